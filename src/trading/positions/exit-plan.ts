import type { Millis } from '../../core/time.ts';
import type { FeedSpec } from '../../market/feed.ts';

/** A level at which a part of a position is sold with a gain. */
interface TakeProfit {
  readonly atBps: number;
  /** The share of the position at that time. */
  readonly sellBps: number;
}

/** The rules by which every position of a strategy is sold. Distances are in basis points of the average cost. */
export interface ExitRules {
  readonly stopLossBps?: number | undefined;
  /** Lowest first; each is taken once in the life of a position. */
  readonly takeProfits?: readonly TakeProfit[] | undefined;
  /** The distance is from the best price since the position was opened, and counts after a gain. */
  readonly trailing?: { readonly distanceBps: number; readonly afterBps: number } | undefined;
  /** After a gain, the stop is at the cost and a bit more. */
  readonly breakEven?: { readonly afterBps: number; readonly lockBps: number } | undefined;
  readonly timeLimitMs?: Millis | undefined;
}

/** The exit rules of a strategy, with the sales that are quoted for them. */
export interface ExitPlan {
  readonly rules: ExitRules;
  readonly feeds: readonly FeedSpec[];
}
