import type { Millis } from '../core/time.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import { symbolOf } from '../market/market-text.ts';
import type { WalletAdjustmentRecord } from '../store/journal-records.ts';
import type { Figures, Money, PeriodName } from './figures.ts';
import { FigureSums, PERIODS, moneyOf, startOf } from './figures.ts';
import type { Booked, ProfitLedger } from './ledger.ts';
import { sumKnown } from './lots.ts';
import type { Pricing } from './prices.ts';

/** Figures of each period, one for each currency. */
type PeriodFigures = Readonly<Record<PeriodName, readonly Figures[]>>;

/** What is held of a token in a book: the unsold parts of its lots. */
interface Position {
  readonly strategy: string;
  readonly token: string;
  readonly mint: string;
  readonly quantity: Money;
  /** When the oldest part was bought. */
  readonly since: Millis;
  /** By FIFO, without fees; null where a part's is unknown. */
  readonly cost: Money | null;
  /** At the prices of the statement; null without one. */
  readonly value: Money | null;
  readonly unrealised: Money | null;
}

/** The profit of all runs with one journal: of live or of paper trading. */
export interface ProfitStatement {
  readonly mode: 'live' | 'paper';
  readonly at: Millis;
  /** What positions are valued with, and how old the oldest of these prices is. */
  readonly prices: { readonly source: Pricing['source']; readonly at: Millis | null };
  readonly total: PeriodFigures;
  /** One for each currency; null where a position has no value or no cost. */
  readonly unrealised: readonly { readonly currency: string; readonly amount: Money | null }[];
  readonly strategies: readonly { readonly name: string; readonly periods: PeriodFigures }[];
  readonly tokens: readonly { readonly token: string; readonly mint: string; readonly periods: PeriodFigures }[];
  readonly positions: readonly Position[];
  /** What others moved into the wallet and out of it, as reconciliation found it. */
  readonly transfers: readonly { readonly token: string; readonly deposits: Money; readonly withdrawals: Money }[];
}

interface StatementInput {
  readonly ledger: ProfitLedger;
  readonly adjustments: readonly WalletAdjustmentRecord[];
  readonly mode: 'live' | 'paper';
  readonly at: Millis;
  readonly tokens: TokenTable;
  readonly pricing: Pricing;
}

/** Returns the statement of a ledger. */
export function profitStatement({ ledger, adjustments, mode, at, tokens, pricing }: StatementInput): ProfitStatement {
  const total = new Scope();
  const strategies = new Map<string, Scope>();
  const byToken = new Map<Mint, Scope>();
  for (const booked of ledger.booked) {
    const { inputMint, outputMint } = booked.swap;
    const periods = PERIODS.filter((period) => booked.swap.at >= startOf(period, at));
    const scopes = [
      total, ofKey(strategies, booked.book), ofKey(byToken, inputMint === booked.currency ? outputMint : inputMint),
    ];
    for (const scope of scopes) scope.add(booked, periods);
  }
  const positions = positionsOf(ledger, tokens, pricing);
  const source = positions.length === 0 ? 'none' : pricing.source;
  return {
    mode, at, prices: { source, at: pricing.usedAt() ?? null }, total: total.figures(tokens),
    unrealised: unrealisedOf(positions, tokens),
    strategies: [...strategies].map(([name, scope]) => ({ name, periods: scope.figures(tokens) })),
    tokens: [...byToken].map(([mint, scope]) =>
      ({ token: symbolOf(tokens, mint), mint, periods: scope.figures(tokens) })),
    positions: positions.map(({ position }) => position),
    transfers: transfersOf(adjustments, tokens),
  };
}

function ofKey<Key>(scopes: Map<Key, Scope>, key: Key): Scope {
  const known = scopes.get(key) ?? new Scope();
  scopes.set(key, known);
  return known;
}

/** The sums of each period and currency. */
class Scope {
  readonly #sums = new Map<PeriodName, Map<Mint, FigureSums>>(PERIODS.map((period) => [period, new Map()]));

  add(booked: Booked, periods: readonly PeriodName[]): void {
    const { currency } = booked;
    for (const period of periods) {
      const sums = this.#sums.get(period)!;
      const own = sums.get(currency) ?? new FigureSums(currency);
      sums.set(currency, own);
      own.add(booked);
    }
  }

  figures(tokens: TokenTable): PeriodFigures {
    return Object.fromEntries(PERIODS.map((period) =>
      [period, [...this.#sums.get(period)!.values()].map((sums) => sums.figures(tokens))])) as unknown as PeriodFigures;
  }
}

/** A position, with its currency and result in units. */
interface Valued {
  readonly position: Position;
  readonly currency: Mint;
  readonly unrealised: bigint | undefined;
}

/** Lots of one token in one book make one position. */
function positionsOf({ open }: ProfitLedger, tokens: TokenTable, pricing: Pricing): Valued[] {
  const groups = Map.groupBy(open, ({ book, piece }) => `${book} ${piece.lot.mint}`);
  return [...groups.values()].map((lots) => {
    const { book, currency, piece: { lot: { mint, at: since } } } = lots[0]!;
    const quantity = lots.reduce((sum, { piece }) => sum + piece.quantity, 0n);
    const cost = sumKnown(lots.map(({ piece }) => piece.cost.currency));
    const value = pricing.valueOf(mint, quantity, currency);
    const unrealised = cost === undefined || value === undefined ? undefined : value - cost;
    const money = (units: bigint | undefined): Money | null =>
      (units === undefined ? null : moneyOf(tokens, currency, units));
    return {
      currency, unrealised,
      position: {
        strategy: book, token: symbolOf(tokens, mint), mint, quantity: moneyOf(tokens, mint, quantity), since,
        cost: money(cost), value: money(value), unrealised: money(unrealised),
      },
    };
  });
}

function unrealisedOf(positions: readonly Valued[], tokens: TokenTable): ProfitStatement['unrealised'] {
  return [...Map.groupBy(positions, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = sumKnown(own.map(({ unrealised }) => unrealised));
    return {
      currency: symbolOf(tokens, currency), amount: sum === undefined ? null : moneyOf(tokens, currency, sum),
    };
  });
}

function transfersOf(
  adjustments: readonly WalletAdjustmentRecord[], tokens: TokenTable,
): ProfitStatement['transfers'] {
  return [...Map.groupBy(adjustments, ({ mint }) => mint)].map(([mint, own]) => {
    const changes = own.map(({ change }) => BigInt(change));
    const sum = (sign: 1 | -1): bigint =>
      changes.filter((change) => change * BigInt(sign) > 0n).reduce((total, change) => total + change, 0n);
    return {
      token: symbolOf(tokens, mint), deposits: moneyOf(tokens, mint, sum(1)),
      withdrawals: moneyOf(tokens, mint, -sum(-1)),
    };
  });
}
