import type { Millis } from '../../src/core/time.ts';
import type { PollDemand } from '../../src/market/poll-plan.ts';

/** Returns the weighted mean age in milliseconds of data that is polled at these intervals and arrives at once. */
export function weightedMeanAge(demands: readonly PollDemand[], intervalsMs: readonly Millis[]): Millis {
  const weights = demands.reduce((sum, { weight }) => sum + weight, 0);
  return demands.reduce((sum, { weight }, index) => sum + (weight * intervalsMs[index]!) / 2, 0) / weights;
}
