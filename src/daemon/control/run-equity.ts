import type { Millis } from '../../core/time.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { currentValue } from '../../trading/valuation.ts';
import { ALL } from '../../trading/protections/memory.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { StrategyBook } from '../../trading/portfolio.ts';

const DAY_MS = 86_400_000;

/**
 * The equity of all strategies with a budget, less network fees, in smallest units of the first budget's token. Changes
 * are negative for losses. The rest of the wallet is left out.
 */
export interface RunEquity {
  readonly mint: string;
  readonly value: string;
  /** Since midnight UTC, or since the start of the run where that is later. */
  readonly day_change: string;
  /** Since the first instant of this run at which everything had a price. */
  readonly change_since_start: string;
  /** Under the highest equity: 0.05 is 5 %. */
  readonly drawdown: number;
  /** Whether everything had a price at the last sample; else the figures are those of the last sample that had. */
  readonly is_known: boolean;
  /** The same for people, "1012.4 USDC", "+12.4 USDC". */
  readonly text: { readonly value: string; readonly today: string; readonly since_start: string };
}

/** The samples of this run, summed up. */
interface Samples {
  readonly mint: Mint;
  readonly first: bigint;
  value: bigint;
  peak: bigint;
  day: number;
  dayStart: bigint;
  isKnown: boolean;
}

/** Samples the equity of a run for people. It only reads the state: no decision depends on it. */
export class EquitySampler {
  readonly #state: EngineState;
  #samples: Samples | undefined;

  constructor(state: EngineState) {
    this.#state = state;
  }

  /** Takes one sample. */
  sample(at: Millis): void {
    const total = totalEquity(this.#state, at);
    const samples = this.#samples;
    if (total === undefined) {
      if (samples !== undefined) samples.isKnown = false;
      return;
    }
    const day = Math.floor(at / DAY_MS);
    if (samples === undefined) {
      this.#samples = {
        mint: total.mint, first: total.value, value: total.value, peak: total.value, day, dayStart: total.value,
        isKnown: true,
      };
      return;
    }
    if (day !== samples.day) Object.assign(samples, { day, dayStart: samples.value });
    Object.assign(samples, { value: total.value, isKnown: true });
    if (total.value > samples.peak) samples.peak = total.value;
  }

  /**
   * Returns the equity at an instant; null before everything had a price. The start of the day and the highest equity
   * come from the protections where one uses them, because those outlive a restart.
   */
  read(at: Millis): RunEquity | null {
    this.sample(at);
    const samples = this.#samples;
    if (samples === undefined) return null;
    const { tokens, protections } = this.#state;
    const record = protections.equity.get(ALL);
    const kept = record?.basis.startsWith(`${samples.mint} `) === true ? record : undefined;
    const peak = kept === undefined || samples.peak > kept.peak ? samples.peak : kept.peak;
    const dayStart = kept?.day === samples.day ? kept.dayStart : samples.dayStart;
    const signed = (change: bigint): string =>
      `${change < 0n ? '-' : '+'}${showAmount(tokens, samples.mint, change < 0n ? -change : change)}`;
    return {
      mint: samples.mint,
      value: samples.value.toString(),
      day_change: (samples.value - dayStart).toString(),
      change_since_start: (samples.value - samples.first).toString(),
      drawdown: peak > 0n && peak > samples.value
        ? Number(((peak - samples.value) * 1_000_000n) / peak) / 1_000_000 : 0,
      is_known: samples.isKnown,
      text: {
        value: showAmount(tokens, samples.mint, samples.value), today: signed(samples.value - dayStart),
        since_start: signed(samples.value - samples.first),
      },
    };
  }
}

/** Returns the equity of all strategies with a budget; undefined without one, or where a price is missing. */
function totalEquity(state: EngineState, at: Millis): { readonly mint: Mint; readonly value: bigint } | undefined {
  const books = budgetedBooks(state);
  const mint = books[0]?.book.budget.mint;
  if (mint === undefined) return undefined;
  let value = 0n;
  for (const { book } of books) {
    const own = bookEquity(state, book, mint, at);
    if (own === undefined) return undefined;
    value += own;
  }
  return { mint, value };
}

/** The book of a strategy that has a budget. */
type BudgetedBook = StrategyBook & { readonly budget: NonNullable<StrategyBook['budget']> };

/** Returns the books of the run's strategies that have a budget. */
export function budgetedBooks(state: EngineState): readonly { readonly name: string; readonly book: BudgetedBook }[] {
  return [...state.strategies.keys()].flatMap((name) => {
    const book = state.portfolio.book(name);
    return hasBudget(book) ? [{ name, book }] : [];
  });
}

function hasBudget(book: StrategyBook): book is BudgetedBook {
  return book.budget !== undefined;
}

/** Returns the equity of a book, less its network fees, in a token; undefined where a price is missing. */
export function bookEquity(
  state: EngineState, { balances, feesLamports }: StrategyBook, mint: Mint, at: Millis,
): bigint | undefined {
  let value = 0n;
  for (const [held, amount] of balances) {
    const part = held === mint ? amount : currentValue(state, { mint: held, amount }, mint, at);
    if (part === undefined) return undefined;
    value += part;
  }
  // Without a price of SOL the small fees are left out, as in the protections.
  return feesLamports > 0n ? value - (currentValue(state, { mint: SOL_MINT, amount: feesLamports }, mint, at) ?? 0n)
    : value;
}
