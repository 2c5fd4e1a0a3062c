import type { Millis } from '../../core/time.ts';

const BPS = 10_000;

/**
 * Returns half of what lies between a price that is asked and one that is bid, in bps of the middle, which is their
 * geometric mean; 0 where they cross. Undefined where one of them is none.
 */
export function halfSpreadBps(bid: number | null | undefined, ask: number | null | undefined): number | undefined {
  return typeof bid === 'number' && typeof ask === 'number' && bid > 0 && ask > 0
    ? Math.max(0, (1 - Math.sqrt(bid / ask)) * BPS) : undefined;
}

/**
 * What a backtest left behind for its figures: plain data, so that whoever holds a copy computes the same. Values in
 * the currency.
 */
export interface RunRecord {
  /** The symbol of the token that results are counted in. */
  readonly currency: string;
  /** When equity was looked at: at the fixed steps that a price came before, and after each fill; rising strictly. */
  readonly times: readonly Millis[];
  /** Those that have a budget. */
  readonly strategies: readonly StrategyRecord[];
  /** What is watched beside the currency. */
  readonly instruments: readonly InstrumentRecord[];
  /** In order of time. */
  readonly fills: readonly RecordedFill[];
  /** Set where the market was made up. */
  readonly isMadeUp?: true | undefined;
  /**
   * What the benchmarks came to as they paid what strategies pay; left out where nothing could be bought, or the end
   * was not known.
   */
  readonly benchmarks?: BenchmarkRecord | undefined;
}

/** What buying and holding came to at each of the times, in the currency; null before it began, and without a price. */
export interface BenchmarkRecord {
  /** What each began with. */
  readonly cash: number;
  readonly buyAndHold: readonly (number | null)[];
  readonly dca: readonly (number | null)[];
}

/** One strategy at each of the times. */
export interface StrategyRecord {
  readonly name: string;
  /**
   * What a sale at that time would have brought, less the fees paid and the deposits laid down until then; null where
   * something had no price.
   */
  readonly equity: readonly (number | null)[];
  /** Of that, what is not the currency; null where it had no price. */
  readonly held: readonly (number | null)[];
  /** Transactions sent to the chain, and those of them that did their work. */
  readonly sent: number;
  readonly landed: number;
  /** Network fees of all attempts, each at the price of its time. */
  readonly feesPaid: number;
  /**
   * Laid down for token accounts at the prices of its time, and not back at the end: it is missing in the equity, and
   * no cost.
   */
  readonly deposited?: number | undefined;
  /** Laid down, and back at the end, when accounts that are empty were closed. */
  readonly returned?: number | undefined;
}

/**
 * One token at each of the times: the price of a whole one at the size of a benchmark's purchase, or at the largest
 * that was recorded where that is less, null before any is known and once it is too old to fill anything.
 */
export interface InstrumentRecord {
  readonly symbol: string;
  readonly decimals: number;
  /** What a sale brings. */
  readonly bids: readonly (number | null)[];
  /** What a purchase takes. */
  readonly asks: readonly (number | null)[];
  /**
   * Half of what lies between both at the size of the swaps, in bps, in the middle over the steps after the first of
   * them; left out without one.
   */
  readonly swapHalfSpreadBps?: number | undefined;
  /**
   * What a benchmark's purchase pays beside the price: the platform's fee in bps, network and priority fees in the
   * currency.
   */
  readonly costs?: { readonly bps: number; readonly order: number } | undefined;
  /** By how much a price is taken to be worse in the direction that nobody recorded, bps; left out where both were. */
  readonly turnedBps?: number | undefined;
}

/** A swap that landed; amounts in smallest units, as text. */
export interface RecordedFill {
  readonly at: Millis;
  readonly strategy: string;
  readonly input: string;
  readonly output: string;
  readonly amountIn: string;
  readonly amountOut: string;
  /** What the accepted quote promised; null where nobody said. */
  readonly quotedOut: string | null;
  /** Null where neither side is the currency and what went in had no price. */
  readonly value: number | null;
  /**
   * Network fees, its own and those of swaps of the same token that came to nothing since the last fill of it; null
   * where SOL had no price.
   */
  readonly costs: number | null;
}
