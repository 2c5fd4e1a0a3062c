import type { Random } from '../../core/random.ts';

/** What a figure comes to in resamples: the ends of the middle share of them. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The share, such as 0.95. */
  readonly level: number;
}

/** Resamples that hold the same returns in another order differ by so much. */
const ROUNDING = 1e-9;

/**
 * Returns an interval for a figure of returns by the stationary bootstrap: blocks of geometric length around a mean, so that
 * neighbours mostly stay neighbours, wrapped at the end (D. Politis and J. Romano, 1994); percentiles of the resamples.
 * Undefined of fewer than two returns, where the figure has no meaning for most resamples, and where it would have no width.
 */
export function bootstrapInterval(returns: readonly number[], figure: (resample: readonly number[]) => number | undefined, options: {
  readonly random: Random;
  readonly resamples?: number;
  /** In returns; by default the cube root of their number, the rate at which it should grow. */
  readonly meanBlock?: number;
  readonly level?: number;
}): Interval | undefined {
  const { random, resamples = 1_000, level = 0.95 } = options;
  const n = returns.length;
  if (n < 2) return undefined;
  const newBlock = 1 / Math.max(1, options.meanBlock ?? Math.cbrt(n));
  const resample = [...returns];
  const figures: number[] = [];
  for (let round = 0; round < resamples; round++) {
    let place = 0;
    for (let i = 0; i < n; i++) {
      place = i === 0 || random() < newBlock ? Math.floor(random() * n) : (place + 1) % n;
      resample[i] = returns[place]!;
    }
    const value = figure(resample);
    if (value !== undefined && Number.isFinite(value)) figures.push(value);
  }
  if (figures.length * 2 < resamples) return undefined;
  figures.sort((a, b) => a - b);
  const [low, high] = [percentile(figures, (1 - level) / 2), percentile(figures, (1 + level) / 2)];
  return high - low > ROUNDING * Math.max(Math.abs(low), Math.abs(high)) ? { low, high, level } : undefined;
}

/** Linear between the two nearest of sorted values. */
function percentile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}
