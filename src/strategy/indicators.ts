import type { OperatorFunction } from 'rxjs';
import { Observable, Subscriber } from 'rxjs';
import type { PricedQuote } from './input.ts';

/** The position of the fast average relative to the slow one. */
export type Trend = 'above' | 'below';

/** What a price leads to, with a memory of its own for each subscription; undefined where it leads to nothing. */
type OfPrice<R> = (price: number) => R | undefined;

/**
 * Hands what prices lead to on, with their quotes. It is one subscriber, where an observer would be wrapped into two:
 * the engine's speed rests on operators of this kind. A backtest shows it only the quotes that lead to something.
 */
export class PriceSubscriber<R = unknown, T = unknown> extends Subscriber<PricedQuote> {
  readonly #results: Subscriber<T>;
  readonly #ofPrice: OfPrice<R>;
  readonly #make: (result: R, quote: PricedQuote) => T;
  /** What the price led to that was taken last, whose quote comes next. */
  #pending: R | undefined;

  constructor(results: Subscriber<T>, ofPrice: OfPrice<R>, make: (result: R, quote: PricedQuote) => T) {
    super(results);
    this.#results = results;
    this.#ofPrice = ofPrice;
    this.#make = make;
  }

  /** Takes a price as `TakesPrice` says. */
  takesPrice(price: number): boolean {
    this.#pending = this.#ofPrice(price);
    return this.#pending === undefined;
  }

  protected override _next(quote: PricedQuote): void {
    const result = this.#pending ?? this.#ofPrice(quote.price);
    this.#pending = undefined;
    if (result !== undefined) this.#results.next(this.#make(result, quote));
  }
}

/** Returns an operator that hands on what `begin` makes of prices. */
function ofPrices<R, T>(
  begin: () => OfPrice<R>, make: (result: R, quote: PricedQuote) => T,
): OperatorFunction<PricedQuote, T> {
  return (source) => new Observable((subscriber) => source.subscribe(new PriceSubscriber(subscriber, begin(), make)));
}

/** Two means closer than this, relative to their size, differ by rounding alone. */
const ROUNDING = 1e-12;

/**
 * Emits when the fast moving average of the price comes to stand above or below the slow one; nothing before the slow
 * one is full, nothing while the relation stays. One operator for what would be four.
 */
export function smaCrossover(
  fastWindow: number, slowWindow: number,
): OperatorFunction<PricedQuote, { trend: Trend; at: PricedQuote }> {
  return ofPrices(() => {
    const fast = new Sma(fastWindow);
    const slow = new Sma(slowWindow);
    let trend: Trend | undefined;
    return (price) => {
      const fastMean = fast.push(price);
      const slowMean = slow.push(price);
      if (!slow.full || Math.abs(fastMean - slowMean) <= Math.abs(slowMean) * ROUNDING) return undefined;
      const now: Trend = fastMean > slowMean ? 'above' : 'below';
      if (now === trend) return undefined;
      trend = now;
      return now;
    };
  }, (trend: Trend, at) => ({ trend, at }));
}

/**
 * A simple moving average over the last `window` values by a running sum. Each time round the ring the sum is computed
 * again, so that rounding errors cannot build up over millions of values; that costs one addition per value.
 */
export class Sma {
  readonly #ring: Float64Array;
  #next = 0;
  #count = 0;
  #sum = 0;

  constructor(window: number) {
    this.#ring = new Float64Array(window);
  }

  /** Returns whether `window` values have been seen. */
  get full(): boolean {
    return this.#count === this.#ring.length;
  }

  /** Takes a value and returns the mean of those in the window, of fewer while it fills. */
  push(value: number): number {
    const ring = this.#ring;
    this.#sum += value - ring[this.#next]!;
    ring[this.#next] = value;
    if (this.#count < ring.length) this.#count += 1;
    if (++this.#next === ring.length) {
      this.#next = 0;
      this.#sum = sumOf(ring);
    }
    return this.#sum / this.#count;
  }
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}

/** The bands at one quote; prices. */
export interface BollingerBands {
  readonly quote: PricedQuote;
  readonly middle: number;
  readonly lower: number;
  readonly upper: number;
  /** (price - middle) / standard deviation; 0 where the window does not vary. */
  readonly z: number;
}

/**
 * Emits the bands of the last `window` prices, the present one included, once that many have been seen:
 * middle = mean, upper and lower = mean ± k population standard deviations (J. Bollinger, 2001).
 */
export function bollinger(window: number, k: number): OperatorFunction<PricedQuote, BollingerBands> {
  return ofPrices(() => {
    const prices = new Float64Array(window);
    let count = 0;
    return (price) => {
      prices[count % window] = price;
      count += 1;
      return count >= window ? bandsOf(price, prices, k) : undefined;
    };
  }, (bands: Omit<BollingerBands, 'quote'>, quote) => ({ quote, ...bands }));
}

function bandsOf(price: number, prices: Float64Array, k: number): Omit<BollingerBands, 'quote'> {
  // Summed from the first price on, so that a window that does not vary has a deviation of exactly 0.
  const origin = prices[0]!;
  let sum = 0;
  for (const price of prices) sum += price - origin;
  const middle = origin + sum / prices.length;
  let squares = 0;
  for (const price of prices) squares += (price - middle) ** 2;
  const deviation = Math.sqrt(squares / prices.length);
  const z = deviation === 0 ? 0 : (price - middle) / deviation;
  return { middle, lower: middle - k * deviation, upper: middle + k * deviation, z };
}

/** A point of two series. */
export interface RegressionInput {
  readonly x: number;
  readonly y: number;
}

/** The line y = alpha + beta x of the last points, and how far the newest one is from it. */
export interface RegressionResult {
  readonly alpha: number;
  readonly beta: number;
  /** The newest residual in population standard deviations of the residuals. */
  readonly z: number;
}

/**
 * Ordinary least squares of y on x over the last `window` points, the present one included, for `indicate`. It has no
 * result where x does not vary, and where all points are on the line.
 */
export class Regression {
  readonly #window: number;
  readonly #points: RegressionInput[] = [];

  constructor(window: number) {
    if (!(Number.isSafeInteger(window) && window > 2))
      throw new RangeError(`expected a regression over a whole number of at least 3 points, got ${window}`);
    this.#window = window;
  }

  get isStable(): boolean {
    return this.#points.length === this.#window;
  }

  getRequiredInputs(): number {
    return this.#window;
  }

  /** Takes a point, and returns the line through the last ones; null while there is none. */
  add(point: RegressionInput): RegressionResult | null {
    const points = this.#points;
    points.push(point);
    if (points.length > this.#window) points.shift();
    if (points.length < this.#window) return null;
    const meanX = meanOf(points, 'x');
    const meanY = meanOf(points, 'y');
    let squaresX = 0;
    let products = 0;
    for (const { x, y } of points) {
      squaresX += (x - meanX) ** 2;
      products += (x - meanX) * (y - meanY);
    }
    const beta = products / squaresX;
    const residualOf = ({ x, y }: RegressionInput): number => y - meanY - beta * (x - meanX);
    let squares = 0;
    for (const one of points) squares += residualOf(one) ** 2;
    const deviation = Math.sqrt(squares / points.length);
    if (!(deviation > ROUNDING * (1 + Math.abs(meanY)))) return null;
    return { alpha: meanY - beta * meanX, beta, z: residualOf(point) / deviation };
  }
}

/** Summed from the first point on, so that a series that does not vary has exactly its value as mean. */
function meanOf(points: readonly RegressionInput[], axis: 'x' | 'y'): number {
  const origin = points[0]![axis];
  let sum = 0;
  for (const point of points) sum += point[axis] - origin;
  return origin + sum / points.length;
}
