import type { Millis } from '../../core/time.ts';

const BPS = 10_000;

/** The record of a backtest from which all its figures are computed: plain data, with values in the currency. */
export interface RunRecord {
  /** The symbol of the token in which results are counted. */
  readonly currency: string;
  /** The times of the samples: each fixed step after a new price, and each fill. They rise strictly. */
  readonly times: readonly Millis[];
  /** The strategies that have a budget. */
  readonly strategies: readonly StrategyRecord[];
  /** The watched tokens, without the currency. */
  readonly instruments: readonly InstrumentRecord[];
  /** In order of time. */
  readonly fills: readonly RecordedFill[];
  /** Set where the market is synthetic. */
  readonly isMadeUp?: true | undefined;
  /** Benchmarks that pay what strategies pay; absent where they bought nothing, or where the end was not known. */
  readonly benchmarks?: BenchmarkRecord | undefined;
}

/** The equity of the benchmarks at each time, in the currency; null before they begin, and without a price. */
export interface BenchmarkRecord {
  /** What each benchmark begins with. */
  readonly cash: number;
  readonly buyAndHold: readonly (number | null)[];
  readonly dca: readonly (number | null)[];
}

/** One strategy at each of the times. */
export interface StrategyRecord {
  readonly name: string;
  /** The proceeds of a sale, less the fees paid and the locked deposits; null where a token had no price. */
  readonly equity: readonly (number | null)[];
  /** The part of it that comes from tokens other than the currency; null where one had no price. */
  readonly held: readonly (number | null)[];
  /** Transactions sent to the chain. */
  readonly sent: number;
  /** Transactions that swapped. */
  readonly landed: number;
  /** Network fees of all attempts, each at the price of its time. */
  readonly feesPaid: number;
  /**
   * Deposits for token accounts that are still locked at the end, at the prices of their time. They are missing in the
   * equity, and are no cost.
   */
  readonly deposited?: number | undefined;
  /** Deposits that came back when empty accounts were closed at the end. */
  readonly returned?: number | undefined;
}

/**
 * One token at each of the times: the price of a whole one at the size of a benchmark's purchase, or at the largest
 * recorded size where that is less. Null before a price is known, and where it is too old to fill a swap.
 */
export interface InstrumentRecord {
  readonly symbol: string;
  readonly decimals: number;
  /** The proceeds of a sale. */
  readonly bids: readonly (number | null)[];
  /** The cost of a purchase. */
  readonly asks: readonly (number | null)[];
  /** Absent where prices were not checked between the times, and in records of earlier versions. */
  readonly range?: PriceRange | undefined;
  /** The median half spread at the size of the swaps, bps, over the steps after the first swap; absent without one. */
  readonly swapHalfSpreadBps?: number | undefined;
  /** Costs of a benchmark's purchase: the platform fee in bps, network and priority fees in the currency. */
  readonly costs?: { readonly bps: number; readonly order: number } | undefined;
  /** The haircut on prices of a direction that was not recorded, bps; absent where both directions were. */
  readonly turnedBps?: number | undefined;
}

/**
 * The lowest and the highest quoted rate since the time before, each divided by the rate at this time; null without a
 * quote.
 */
export interface PriceRange {
  readonly lowest: readonly (number | null)[];
  readonly highest: readonly (number | null)[];
}

/** A swap that landed; amounts in smallest units, as text. */
export interface RecordedFill {
  readonly at: Millis;
  readonly strategy: string;
  readonly input: string;
  readonly output: string;
  readonly amountIn: string;
  readonly amountOut: string;
  /** The output of the accepted quote; null where it is not known. */
  readonly quotedOut: string | null;
  /** Null where neither side is the currency and the input had no price. */
  readonly value: number | null;
  /**
   * Network fees of this swap, and of failed swaps of the same token since its last fill; null where SOL had no price.
   */
  readonly costs: number | null;
  /** The strategy's reason, at most so long as `REASON_CHARACTERS`; absent in records of earlier versions. */
  readonly reason?: string | undefined;
}

/** A longer reason is cut in a record, which a report carries. */
export const REASON_CHARACTERS = 200;

/** Returns a value as a record stores it: rounded to the smallest unit of the currency, which a report can carry. */
export function roundedAmount(value: number, unitsPerToken: number): number {
  return Math.round(value * unitsPerToken) / unitsPerToken;
}

/** Returns a price as a record stores it: with seven significant digits. */
export function roundedPrice(value: number): number {
  return Number(value.toPrecision(7));
}

/**
 * Returns half of the spread in bps of the middle, which is the geometric mean of both prices; 0 where they cross.
 * Undefined where a price is missing.
 */
export function halfSpreadBps(bid: number | null | undefined, ask: number | null | undefined): number | undefined {
  return typeof bid === 'number' && typeof ask === 'number' && bid > 0 && ask > 0
    ? Math.max(0, (1 - Math.sqrt(bid / ask)) * BPS) : undefined;
}
