/** The rounding error of a deviation, relative to numbers around 1: returns are differences of such numbers. */
const ROUNDING = 1e-14;

/** Returns the mean; NaN without values. */
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
 * Returns the sample standard deviation (ddof 1). Undefined for fewer than two values; exactly 0 when the values differ
 * by rounding errors only.
 */
export function deviation(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const s = Math.sqrt((centralMoment(values, 2) * values.length) / (values.length - 1));
  return s <= ROUNDING * Math.max(1, largest(values)) ? 0 : s;
}

/** Returns the third standardised moment of the sample, m3 / m2^1.5; undefined without variance. */
export function skewness(values: readonly number[]): number | undefined {
  return varies(values) ? centralMoment(values, 3) / centralMoment(values, 2) ** 1.5 : undefined;
}

/**
 * Returns the fourth standardised moment of the sample, m4 / m2²: 3 for a normal distribution; undefined without
 * variance.
 */
export function kurtosis(values: readonly number[]): number | undefined {
  return varies(values) ? centralMoment(values, 4) / centralMoment(values, 2) ** 2 : undefined;
}

/** Returns the autocorrelation at a lag, by the mean and variance of the whole sample; undefined without variance. */
export function autocorrelation(values: readonly number[], lag: number): number | undefined {
  if (!varies(values)) return undefined;
  const middle = mean(values);
  let sum = 0;
  for (let i = lag; i < values.length; i++) sum += (values[i]! - middle) * (values[i - lag]! - middle);
  return sum / (centralMoment(values, 2) * values.length);
}

/**
 * Returns a quantile of values in rising order, linear between the two values around it (type 7 of R. Hyndman and Y.
 * Fan, "Sample Quantiles in Statistical Packages", 1996); undefined without values.
 */
export function quantile(rising: readonly number[], share: number): number | undefined {
  const place = share * (rising.length - 1);
  const [low, high] = [rising[Math.floor(place)], rising[Math.ceil(place)]];
  return low === undefined || high === undefined ? undefined : low + (high - low) * (place - Math.floor(place));
}

function varies(values: readonly number[]): boolean {
  return (deviation(values) ?? 0) > 0;
}

function largest(values: readonly number[]): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}

const ROOT_OF_TWO_PI = Math.sqrt(2 * Math.PI);
/** From here on the continued fraction converges within its steps, and the series begins to lose digits. */
const TAIL_FROM = 2;
const FRACTION_STEPS = 300;

/**
 * Returns the standard normal distribution function to about 15 digits, including the lower tail. The series and the
 * continued fraction are 26.2.11 and 26.2.14 of Abramowitz and Stegun, "Handbook of Mathematical Functions" (G.
 * Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical Software 11(4), 2004).
 */
export function normalCdf(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x >= TAIL_FROM) return 1 - upperTail(x);
  return x <= -TAIL_FROM ? upperTail(-x) : 0.5 + middle(x);
}

function density(x: number): number {
  return Math.exp((-x * x) / 2) / ROOT_OF_TWO_PI;
}

/** φ(x) · (x + x³/3 + x⁵/(3·5) + …) */
function middle(x: number): number {
  let term = x;
  let sum = x;
  for (let i = 3; Math.abs(term) > Math.abs(sum) * Number.EPSILON / 4; i += 2) {
    term *= (x * x) / i;
    sum += term;
  }
  return density(x) * sum;
}

/** φ(x) / (x + 1/(x + 2/(x + 3/(x + …)))), from the inside out. */
function upperTail(x: number): number {
  let fraction = x;
  for (let i = FRACTION_STEPS; i > 0; i--) fraction = x + i / fraction;
  return density(x) / fraction;
}

/**
 * Returns the quantile of the standard normal distribution to about 16 digits: -Infinity at 0, Infinity at 1, NaN
 * outside. Algorithm AS 241, PPND16 (M. Wichura, "The Percentage Points of the Normal Distribution", Applied Statistics
 * 37(3), 1988).
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN;
  if (p === 0 || p === 1) return p === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) return q * rational(MIDDLE, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(q < 0 ? p : 1 - p));
  const size = r <= 5 ? rational(NEAR_TAIL, r - 1.6) : rational(FAR_TAIL, r - 5);
  return q < 0 ? -size : size;
}

/** The coefficients of a quotient of polynomials, the highest power first. */
interface Rational {
  readonly over: readonly number[];
  readonly under: readonly number[];
}

function rational({ over, under }: Rational, x: number): number {
  return horner(over, x) / horner(under, x);
}

function horner(coefficients: readonly number[], x: number): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}

const MIDDLE: Rational = {
  over: [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
    133.14166789178438, 3.3871328727963665,
  ],
  under: [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
    42.31333070160091, 1,
  ],
};
const NEAR_TAIL: Rational = {
  over: [
    7.745450142783414e-4, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
    5.769497221460691, 4.630337846156546, 1.4234371107496835,
  ],
  under: [
    1.0507500716444169e-9, 5.475938084995345e-4, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
    1.6763848301838038, 2.053191626637759, 1,
  ],
};
const FAR_TAIL: Rational = {
  over: [
    2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
    1.7848265399172913, 5.463784911164114, 6.657904643501103,
  ],
  under: [
    2.0442631033899397e-15, 1.4215117583164459e-7, 1.8463183175100548e-5, 7.868691311456133e-4, 0.014875361290850615,
    0.1369298809227358, 0.599832206555888, 1,
  ],
};
