/** What is left of a deviation by rounding alone, relative to numbers around 1: returns are differences of such. */
const ROUNDING = 1e-14;

/** Returns the mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  // Summed from the first value on, so that the mean of equal values is exactly that value.
  const origin = values[0] ?? Number.NaN;
  let sum = 0;
  for (const value of values) sum += value - origin;
  return origin + sum / values.length;
}

/** Returns the mean of (x - mean)^power. */
function centralMoment(values: readonly number[], power: 2 | 3 | 4): number {
  const middle = mean(values);
  let sum = 0;
  for (const value of values) sum += (value - middle) ** power;
  return sum / values.length;
}

/**
 * Returns the sample standard deviation (ddof 1). Undefined of fewer than two values; exactly 0 where what the values
 * vary by is no more than rounding.
 */
export function deviation(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const s = Math.sqrt((centralMoment(values, 2) * values.length) / (values.length - 1));
  return s <= ROUNDING * Math.max(1, largest(values)) ? 0 : s;
}

/** Returns the third standardised moment of the sample, m3 / m2^1.5; undefined where nothing varies. */
export function skewness(values: readonly number[]): number | undefined {
  return varies(values) ? centralMoment(values, 3) / centralMoment(values, 2) ** 1.5 : undefined;
}

/** Returns the fourth standardised moment of the sample, m4 / m2²: 3 for a normal distribution; undefined where nothing varies. */
export function kurtosis(values: readonly number[]): number | undefined {
  return varies(values) ? centralMoment(values, 4) / centralMoment(values, 2) ** 2 : undefined;
}

/** Returns the autocorrelation at a lag, by the mean and variance of the whole sample; undefined where nothing varies. */
export function autocorrelation(values: readonly number[], lag: number): number | undefined {
  if (!varies(values)) return undefined;
  const middle = mean(values);
  let sum = 0;
  for (let i = lag; i < values.length; i++) sum += (values[i]! - middle) * (values[i - lag]! - middle);
  return sum / (centralMoment(values, 2) * values.length);
}

function varies(values: readonly number[]): boolean {
  return (deviation(values) ?? 0) > 0;
}

function largest(values: readonly number[]): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}
