import { deviation, mean } from './moments.ts';

/** Returns the standard deviation of returns a year, by the square root of time; undefined of fewer than two. */
export function volatility(returns: readonly number[], perYear: number): number | undefined {
  const s = deviation(returns);
  return s === undefined ? undefined : s * Math.sqrt(perYear);
}

/**
 * Returns mean(r - rf) / s(r - rf), times the square root of the periods a year (1 leaves it per period). The risk-free
 * return is per period. Undefined where nothing varies: a ratio to no risk is not a large one.
 */
export function sharpe(returns: readonly number[], { perYear = 1, riskFree = 0 }: { readonly perYear?: number; readonly riskFree?: number } = {}): number | undefined {
  const s = deviation(returns);
  return s === undefined || s === 0 ? undefined : ((mean(returns) - riskFree) / s) * Math.sqrt(perYear);
}

/** Returns the root of the mean square of what fell short of a minimum, over all returns, those above it as 0; undefined of none. */
export function downsideDeviation(returns: readonly number[], mar = 0): number | undefined {
  if (returns.length === 0) return undefined;
  let squares = 0;
  for (const value of returns) squares += Math.min(value - mar, 0) ** 2;
  return Math.sqrt(squares / returns.length);
}

/**
 * Returns (mean(r) - MAR) / downside deviation, times the square root of the periods a year. The minimum acceptable return
 * is per period. Undefined where no return is below it (F. Sortino; Rollinger and Hoffman, "Sortino: A 'Sharper' Ratio").
 */
export function sortino(returns: readonly number[], { perYear = 1, mar = 0 }: { readonly perYear?: number; readonly mar?: number } = {}): number | undefined {
  const downside = downsideDeviation(returns, mar);
  return downside === undefined || downside === 0 ? undefined : ((mean(returns) - mar) / downside) * Math.sqrt(perYear);
}

/** Returns the yearly growth by the deepest drawdown, both of the whole period; undefined where nothing was ever lost. */
export function calmar(growth: number, maxDrawdown: number): number | undefined {
  return maxDrawdown > 0 ? growth / maxDrawdown : undefined;
}
