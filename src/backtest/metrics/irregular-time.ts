import type { EquitySeries } from './equity-series.ts';
import { YEAR_MS } from './equity-series.ts';
import { autocorrelation } from './moments.ts';

/** Growth and risk a year, from points at any distances. */
export interface IrregularEstimates {
  /** Of the logarithm. */
  readonly growth: number;
  readonly volatility: number;
  /** Undefined where nothing varies. */
  readonly sharpe: number | undefined;
}

/**
 * Returns growth and risk by exposure time: μ = Σℓ / ΣΔt and σ² = Σ (ℓ - μΔt)² / Δt / (n - 1), Δt in years, which holds for
 * steps of any length, where the square root of their number a year does not. Undefined of fewer than two steps, or where a
 * value is not above 0.
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
  // What is left of a straight line by rounding: a step's logarithm is right to some 1e-16.
  const rounding = (1e-14 ** 2 * steps * YEAR_MS) / (times.at(-1)! - times[0]!);
  const volatility = variance <= rounding ? 0 : Math.sqrt(variance);
  return { growth, volatility, sharpe: volatility === 0 ? undefined : growth / volatility };
}

/** The quotient's is the more exact one, but the quotient of a value and next to nothing is beyond all numbers. */
function logRatio(value: number, before: number): number {
  const ratio = value / before;
  return Number.isFinite(ratio) && ratio > 0 ? Math.log(ratio) : Math.log(value) - Math.log(before);
}

/**
 * Returns what a Sharpe ratio per period is to be multiplied by for `periods` of them where returns are correlated in time:
 * q / √(q + 2 Σ (q - k) ρ_k), and √q where they are not (A. Lo, "The Statistics of Sharpe Ratios", 2002). `correlations`
 * begins with lag 1; lags beyond it count as 0. Undefined where they leave no variance.
 */
export function correlatedScale(correlations: readonly number[], periods: number): number | undefined {
  let sum = periods;
  for (let lag = 1; lag <= correlations.length && lag < periods; lag++) sum += 2 * (periods - lag) * correlations[lag - 1]!;
  return sum > 0 ? periods / Math.sqrt(sum) : undefined;
}

/** Returns the correlation of each return with the one before it where it is more than chance makes it, at about 95 %; else undefined. */
export function markedAutocorrelation(returns: readonly number[]): number | undefined {
  const correlation = autocorrelation(returns, 1);
  return correlation !== undefined && Math.abs(correlation) > 2 / Math.sqrt(returns.length) ? correlation : undefined;
}
