import { normalCdf, normalQuantile } from './normal-distribution.ts';

const EULER_MASCHERONI = 0.577_215_664_901_532_9;

/** A Sharpe ratio per period with what it was measured on; kurtosis is 3 for normal returns. */
export interface MeasuredSharpe {
  readonly sharpe: number;
  readonly returns: number;
  readonly skewness: number;
  readonly kurtosis: number;
}

/** How many variants were tried on the same data, and how their Sharpe ratios per period vary. */
export interface Trials {
  readonly count: number;
  /** Sample variance over the trials; undefined where it is not known. */
  readonly sharpeVariance: number | undefined;
}

/**
 * Returns the probability that the true Sharpe ratio is above a benchmark, both per period (D. Bailey and M. López de Prado,
 * "The Sharpe Ratio Efficient Frontier", 2012). Undefined of fewer than two returns, or where these moments leave no error.
 */
export function probabilisticSharpe(measured: MeasuredSharpe, benchmark = 0): number | undefined {
  const error = errorFactor(measured);
  if (error <= 0 || measured.returns < 2) return undefined;
  return normalCdf(((measured.sharpe - benchmark) * Math.sqrt(measured.returns - 1)) / Math.sqrt(error));
}

/**
 * Returns how many returns it takes to be sure of a Sharpe ratio above the benchmark at a confidence; undefined where the
 * measured one is not above it: no length would do.
 */
export function minimumTrackRecord(measured: Omit<MeasuredSharpe, 'returns'>, { benchmark = 0, confidence = 0.95 }: { readonly benchmark?: number; readonly confidence?: number } = {}): number | undefined {
  const error = errorFactor(measured);
  if (error <= 0 || measured.sharpe <= benchmark) return undefined;
  return 1 + error * (normalQuantile(confidence) / (measured.sharpe - benchmark)) ** 2;
}

/** Returns the Sharpe ratio that the best of so many trials is expected to show where none is worth anything; 0 for a single one. */
export function expectedMaximumSharpe({ count, sharpeVariance }: Trials): number | undefined {
  if (count === 1) return 0;
  if (sharpeVariance === undefined || !(count > 1)) return undefined;
  const quantile = (1 - EULER_MASCHERONI) * normalQuantile(1 - 1 / count) + EULER_MASCHERONI * normalQuantile(1 - 1 / (count * Math.E));
  return Math.sqrt(sharpeVariance) * quantile;
}

/**
 * Returns the probability that the true Sharpe ratio is above what the best of all trials would show by luck (D. Bailey and
 * M. López de Prado, "The Deflated Sharpe Ratio", 2014). Undefined where the variance of the trials is not known.
 */
export function deflatedSharpe(measured: MeasuredSharpe, trials: Trials): number | undefined {
  const benchmark = expectedMaximumSharpe(trials);
  return benchmark === undefined ? undefined : probabilisticSharpe(measured, benchmark);
}

/** 1 - γ₃ SR + (γ₄ - 1)/4 SR² */
function errorFactor({ sharpe, skewness, kurtosis }: Omit<MeasuredSharpe, 'returns'>): number {
  return 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2;
}
