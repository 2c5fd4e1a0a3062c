import { autocorrelation, deviation, mean } from './statistics.ts';
import type { EquitySeries } from './equity-series.ts';
import { YEAR_MS } from './equity-series.ts';

/** Returns the standard deviation of returns a year, by the square root of time; undefined for fewer than two. */
export function volatility(returns: readonly number[], perYear: number): number | undefined {
  const s = deviation(returns);
  return s === undefined ? undefined : s * Math.sqrt(perYear);
}

/**
 * Returns mean(r - rf) / s(r - rf), times the square root of the periods a year (1 leaves it per period). The risk-free
 * return is per period. Undefined without variance: a ratio to no risk has no meaning.
 */
export function sharpe(returns: readonly number[], { perYear = 1, riskFree = 0 }: {
  readonly perYear?: number; readonly riskFree?: number;
} = {}): number | undefined {
  const s = deviation(returns);
  return s === undefined || s === 0 ? undefined : ((mean(returns) - riskFree) / s) * Math.sqrt(perYear);
}

/**
 * Returns the downside deviation: the root of the mean square of the shortfalls below a minimum, over all returns.
 * Undefined without returns.
 */
export function downsideDeviation(returns: readonly number[], mar = 0): number | undefined {
  if (returns.length === 0) return undefined;
  let squares = 0;
  for (const value of returns) squares += Math.min(value - mar, 0) ** 2;
  return Math.sqrt(squares / returns.length);
}

/**
 * Returns (mean(r) - MAR) / downside deviation, times the square root of the periods a year. The minimum acceptable
 * return is per period. Undefined when no return is below it (F. Sortino; Rollinger and Hoffman, "Sortino: A 'Sharper'
 * Ratio").
 */
export function sortino(
  returns: readonly number[], { perYear = 1, mar = 0 }: { readonly perYear?: number; readonly mar?: number } = {},
): number | undefined {
  const downside = downsideDeviation(returns, mar);
  return downside === undefined || downside === 0 ? undefined : ((mean(returns) - mar) / downside) * Math.sqrt(perYear);
}

/** Returns yearly growth divided by the deepest drawdown, both of the whole period; undefined without a drawdown. */
export function calmar(growth: number, maxDrawdown: number): number | undefined {
  return maxDrawdown > 0 ? growth / maxDrawdown : undefined;
}

/** Returns V_i / V_{i-1} - 1 of each step; undefined when a step begins at 0 or less. */
export function simpleReturns(values: readonly number[]): number[] | undefined {
  const returns: number[] = [];
  for (let i = 1; i < values.length; i++) {
    const before = values[i - 1]!;
    if (before <= 0) return undefined;
    returns.push(values[i]! / before - 1);
  }
  return returns;
}

/** Returns the compounded values of returns, beginning with 1. */
export function compounded(returns: readonly number[]): number[] {
  const values = [1];
  for (const change of returns) values.push(values.at(-1)! * (1 + change));
  return values;
}

/** Returns the last value divided by the first, minus 1; undefined when the first is not above 0. */
export function totalReturn(values: readonly number[]): number | undefined {
  const [first] = values;
  return first === undefined || first <= 0 || values.length < 2 ? undefined : values.at(-1)! / first - 1;
}

/** Returns the compound growth a year: -1 for a total loss, undefined without a time span. */
export function annualGrowth(total: number, years: number): number | undefined {
  if (years <= 0) return undefined;
  return total <= -1 ? -1 : (1 + total) ** (1 / years) - 1;
}

/** Growth and risk a year, from points at irregular distances. */
export interface IrregularEstimates {
  /** Growth of the logarithm. */
  readonly growth: number;
  readonly volatility: number;
  /** Undefined without variance. */
  readonly sharpe: number | undefined;
}

/**
 * Returns growth and risk by exposure time, with Δt in years: μ = Σℓ / ΣΔt and
 * σ² = Σ (ℓ - μΔt)² / Δt / (n - 1). They hold for steps of any length, unlike the square root of the number of steps a
 * year. Undefined for fewer than two steps, and when a value is not above 0.
 */
export function irregularEstimates({ times, values }: EquitySeries): IrregularEstimates | undefined {
  const steps = times.length - 1;
  if (steps < 2 || values.some((value) => value <= 0)) return undefined;
  const growth = logRatio(values.at(-1)!, values[0]!) / ((times.at(-1)! - times[0]!) / YEAR_MS);
  let sum = 0;
  for (let i = 1; i <= steps; i++) {
    const years = (times[i]! - times[i - 1]!) / YEAR_MS;
    sum += (logRatio(values[i]!, values[i - 1]!) - growth * years) ** 2 / years;
  }
  const variance = sum / (steps - 1);
  // The rounding error of a straight line: a step's logarithm is right to some 1e-16.
  const rounding = (1e-14 ** 2 * steps * YEAR_MS) / (times.at(-1)! - times[0]!);
  const volatility = variance <= rounding ? 0 : Math.sqrt(variance);
  return { growth, volatility, sharpe: volatility === 0 ? undefined : growth / volatility };
}

/** The logarithm of the quotient is more exact, but a quotient may exceed the range of numbers. */
function logRatio(value: number, before: number): number {
  const ratio = value / before;
  return Number.isFinite(ratio) && ratio > 0 ? Math.log(ratio) : Math.log(value) - Math.log(before);
}

/**
 * Returns the factor from a Sharpe ratio per period to one of `periods` periods for correlated returns:
 * q / √(q + 2 Σ (q - k) ρ_k), and √q without correlation (A. Lo, "The Statistics of Sharpe Ratios", 2002).
 * `correlations` begins with lag 1; later lags count as 0. Undefined when the correlations leave no variance.
 */
export function correlatedScale(correlations: readonly number[], periods: number): number | undefined {
  let sum = periods;
  for (let lag = 1; lag <= correlations.length && lag < periods; lag++)
    sum += 2 * (periods - lag) * correlations[lag - 1]!;
  return sum > 0 ? periods / Math.sqrt(sum) : undefined;
}

/** Returns the correlation of adjacent returns when it is significant at about 95 %; undefined otherwise. */
export function markedAutocorrelation(returns: readonly number[]): number | undefined {
  const correlation = autocorrelation(returns, 1);
  return correlation !== undefined && Math.abs(correlation) > 2 / Math.sqrt(returns.length) ? correlation : undefined;
}
