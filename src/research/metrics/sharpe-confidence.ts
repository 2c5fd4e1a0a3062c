import { normalCdf, normalQuantile } from './statistics.ts';
import type { Random } from '../../core/random.ts';

/** A confidence interval of a figure, from resamples. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The confidence level, such as 0.95. */
  readonly level: number;
}

/** Resamples with the same returns in another order differ by this rounding error. */
const SAME_RESAMPLES = 1e-9;

/**
 * Returns a confidence interval of a figure of returns by the stationary bootstrap: blocks of geometric length, so that
 * neighbours mostly stay neighbours, wrapped at the end (D. Politis and J. Romano, 1994). Undefined for fewer than two
 * returns, when the figure is undefined for most resamples, and when the interval has no width.
 */
export function bootstrapInterval(returns: readonly number[],
  figure: (resample: readonly number[]) => number | undefined, options: {
    readonly random: Random;
    readonly resamples?: number;
    /** In returns; by default the cube root of their number, the optimal rate of growth. */
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
  return high - low > SAME_RESAMPLES * Math.max(Math.abs(low), Math.abs(high)) ? { low, high, level } : undefined;
}

/** Interpolates linearly between the two nearest of sorted values. */
function percentile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}

const EULER_MASCHERONI = 0.577_215_664_901_532_9;

/** A Sharpe ratio per period and the sample behind it; kurtosis is 3 for normal returns. */
interface MeasuredSharpe {
  readonly sharpe: number;
  readonly returns: number;
  readonly skewness: number;
  readonly kurtosis: number;
}

/** The number of variants tried on the same data, and the variance of their Sharpe ratios per period. */
interface Trials {
  readonly count: number;
  /** Sample variance over the trials; undefined if unknown. */
  readonly sharpeVariance: number | undefined;
}

/**
 * Returns the probability that the true Sharpe ratio is above a benchmark, both per period (D. Bailey and M. López de
 * Prado, "The Sharpe Ratio Efficient Frontier", 2012). Undefined for fewer than two returns, and when the moments leave
 * no standard error.
 */
export function probabilisticSharpe(measured: MeasuredSharpe, benchmark = 0): number | undefined {
  const error = errorFactor(measured);
  if (error <= 0 || measured.returns < 2) return undefined;
  return normalCdf(((measured.sharpe - benchmark) * Math.sqrt(measured.returns - 1)) / Math.sqrt(error));
}

/**
 * Returns the number of returns needed for confidence in a Sharpe ratio above the benchmark; undefined when the
 * measured one is not above it.
 */
export function minimumTrackRecord(measured: Omit<MeasuredSharpe, 'returns'>, { benchmark = 0, confidence = 0.95 }: {
  readonly benchmark?: number; readonly confidence?: number;
} = {}): number | undefined {
  const error = errorFactor(measured);
  if (error <= 0 || measured.sharpe <= benchmark) return undefined;
  return 1 + error * (normalQuantile(confidence) / (measured.sharpe - benchmark)) ** 2;
}

/** Returns the Sharpe ratio that the best of so many worthless trials is expected to show; 0 for a single one. */
export function expectedMaximumSharpe({ count, sharpeVariance }: Trials): number | undefined {
  if (count === 1) return 0;
  if (sharpeVariance === undefined || !(count > 1)) return undefined;
  const quantile = (1 - EULER_MASCHERONI) * normalQuantile(1 - 1 / count)
    + EULER_MASCHERONI * normalQuantile(1 - 1 / (count * Math.E));
  return Math.sqrt(sharpeVariance) * quantile;
}

/**
 * Returns the probability that the true Sharpe ratio is above the expected maximum of all trials by luck (D. Bailey and
 * M. López de Prado, "The Deflated Sharpe Ratio", 2014). Undefined when the variance of the trials is unknown.
 */
export function deflatedSharpe(measured: MeasuredSharpe, trials: Trials): number | undefined {
  const benchmark = expectedMaximumSharpe(trials);
  return benchmark === undefined ? undefined : probabilisticSharpe(measured, benchmark);
}

/** 1 - γ₃ SR + (γ₄ - 1)/4 SR² */
function errorFactor({ sharpe, skewness, kurtosis }: Omit<MeasuredSharpe, 'returns'>): number {
  return 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2;
}
