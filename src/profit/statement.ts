import type { Millis } from '../core/time.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import { symbolOf } from '../market/market-text.ts';
import type { WalletAdjustmentRecord } from '../store/journal-records.ts';
import type { Figures, Money } from './figures.ts';
import { moneyOf } from './figures.ts';
import type { ProfitLedger } from './ledger.ts';
import { sumKnown } from './lots.ts';
import type { Pricing } from './prices.ts';
import type { PeriodFigures, ProfitResults } from './results.ts';

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
  /** The whole UTC day before, one for each currency. */
  readonly yesterday: readonly Figures[];
  /** One for each currency; null where a position has no value or no cost. */
  readonly unrealised: readonly { readonly currency: string; readonly amount: Money | null }[];
  readonly strategies: readonly { readonly name: string; readonly periods: PeriodFigures }[];
  readonly tokens: readonly { readonly token: string; readonly mint: string; readonly periods: PeriodFigures }[];
  readonly positions: readonly Position[];
  /** What others moved into the wallet and out of it, as reconciliation found it. */
  readonly transfers: readonly { readonly token: string; readonly deposits: Money; readonly withdrawals: Money }[];
}

interface StatementInput {
  readonly ledger: Pick<ProfitLedger, 'open'>;
  readonly results: ProfitResults;
  readonly adjustments: readonly WalletAdjustmentRecord[];
  readonly mode: 'live' | 'paper';
  readonly at: Millis;
  readonly tokens: TokenTable;
  readonly pricing: Pricing;
}

/** Returns the statement of a ledger. */
export function profitStatement({
  ledger, results, adjustments, mode, at, tokens, pricing,
}: StatementInput): ProfitStatement {
  const positions = positionsOf(ledger, tokens, pricing);
  const source = positions.length === 0 ? 'none' : pricing.source;
  return {
    mode, at, prices: { source, at: pricing.usedAt() ?? null }, total: results.total.periods(at, tokens),
    yesterday: results.total.yesterday(at, tokens),
    unrealised: unrealisedOf(positions, tokens),
    strategies: [...results.strategies].map(([name, own]) => ({ name, periods: own.periods(at, tokens) })),
    tokens: [...results.tokens].map(([mint, own]) =>
      ({ token: symbolOf(tokens, mint), mint, periods: own.periods(at, tokens) })),
    positions: positions.map(({ position }) => position),
    transfers: transfersOf(adjustments, tokens),
  };
}

/** A position, with its currency and result in units. */
interface Valued {
  readonly position: Position;
  readonly currency: Mint;
  readonly unrealised: bigint | undefined;
}

/** Lots of one token in one book make one position. */
function positionsOf(
  { open }: Pick<ProfitLedger, 'open'>, tokens: TokenTable, pricing: Pricing,
): Valued[] {
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
