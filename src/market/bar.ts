import type { Millis } from '../core/time.ts';

/**
 * The prices of one interval, which is over: a strategy never sees a bar that can still change. Prices are quote tokens
 * for one base token, in whole tokens: for signals, never for money.
 */
export interface Bar {
  /** The first instant of the interval. */
  readonly openAt: Millis;
  /** The first instant after the interval. */
  readonly closeAt: Millis;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** How many prices it is made of; 0 in a gap. */
  readonly ticks?: number | undefined;
  /** What was traded, where the source knows it; quotes do not. */
  readonly volume?: number | undefined;
  /** Whether no price was seen in the interval, so that the close before stands for all four. */
  readonly isGap?: boolean | undefined;
}
