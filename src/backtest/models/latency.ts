import type { Millis } from '../../core/time.ts';
import type { Route } from '../../trading/proposal.ts';
import type { Latency, LatencyQuantiles } from '../../trading/simulation-model.ts';

/**
 * Returns a quantile of a latency in whole milliseconds; `share` is 0 to 1. It is linear between known quantiles and
 * flat outside them.
 */
export function latencyAt(quantiles: LatencyQuantiles, share: number): Millis {
  let above = 0;
  while (above < quantiles.length - 1 && quantiles[above]!.share < share) above += 1;
  const high = quantiles[above]!;
  const low = above === 0 || high.share < share ? high : quantiles[above - 1]!;
  const width = high.share - low.share;
  const part = width === 0 ? 0 : (share - low.share) / width;
  return Math.round(low.latencyMs + part * (high.latencyMs - low.latencyMs));
}

/** Returns the distribution of a latency that was known before an instant, of one route where routes differ. */
export function knownBefore(latency: Latency, at: Millis, route?: Route): LatencyQuantiles {
  if (!('steps' in latency)) return latency;
  const own = route === undefined ? undefined : latency.routes?.[route];
  if (own !== undefined) return knownBefore(own, at);
  let known = latency.before;
  for (const { since, quantiles } of latency.steps) {
    if (since >= at) break;
    known = quantiles;
  }
  return known;
}

/** The quantiles of measured latencies that are kept. */
const KEPT_SHARES = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1];

/** Returns the quantiles of measured latencies, linear between neighbours; at least one latency is needed. */
export function quantilesOf(latenciesMs: readonly Millis[]): LatencyQuantiles {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  const all = sorted.map((latencyMs, index) => ({ share: last === 0 ? 0.5 : index / last, latencyMs }));
  return last === 0 ? all : KEPT_SHARES.map((share) => ({ share, latencyMs: latencyAt(all, share) }));
}
