import type { Millis } from '../core/time.ts';

/** One polled thing, as far as its freshness goes. */
export interface PollDemand {
  /** It need not be polled more often than this. */
  readonly everyMs: Millis;
  /** How much one millisecond of its age matters, beside the others'. Positive. */
  readonly weight: number;
}

/**
 * Returns how far apart the polls of each demand should be, in the same order, so that the weighted mean age of all
 * data is the least that `requestsPerSecond` allows. Between polls an age grows from 0 to the interval T, so its mean
 * is T / 2; the sum of weight × T / 2 under a bounded sum of 1 / T is least where T is proportional to 1 / √weight
 * (Lagrange; the square-root rule of web crawling, Cho and Garcia-Molina 2003), with those that would be polled more
 * often than asked held at `everyMs` and the rest of the rate shared among the others.
 */
export function optimalIntervals(demands: readonly PollDemand[], requestsPerSecond: number): Millis[] {
  const intervals = demands.map(({ everyMs }) => everyMs);
  let open = demands.map((_, index) => index);
  let rateLeft = requestsPerSecond / 1_000;
  for (;;) {
    const roots = open.reduce((sum, index) => sum + Math.sqrt(demands[index]!.weight), 0);
    // Where nothing is left, nothing is ever polled.
    const intervalOf = (index: number): Millis =>
      (rateLeft > 0 ? roots / (rateLeft * Math.sqrt(demands[index]!.weight)) : Infinity);
    const satisfied = open.filter((index) => intervalOf(index) <= demands[index]!.everyMs);
    if (satisfied.length === 0) {
      for (const index of open) intervals[index] = intervalOf(index);
      return intervals;
    }
    for (const index of satisfied) rateLeft -= 1 / demands[index]!.everyMs;
    open = open.filter((index) => !satisfied.includes(index));
    if (open.length === 0) return intervals;
  }
}

/** Returns the weighted mean age in milliseconds of data that is polled at these intervals and arrives at once. */
export function weightedMeanAge(demands: readonly PollDemand[], intervalsMs: readonly Millis[]): Millis {
  const weights = demands.reduce((sum, { weight }) => sum + weight, 0);
  return demands.reduce((sum, { weight }, index) => sum + (weight * intervalsMs[index]!) / 2, 0) / weights;
}
