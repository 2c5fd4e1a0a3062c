import type { OperatorFunction } from 'rxjs';
import { Observable } from 'rxjs';
import type { PricedQuote } from '../input.ts';

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
  return (source) => new Observable((subscriber) => {
    const prices = new Float64Array(window);
    let count = 0;
    return source.subscribe({
      next: (quote) => {
        prices[count % window] = quote.price;
        count += 1;
        if (count >= window) subscriber.next(bandsOf(quote, prices, k));
      },
      error: (error: unknown) => { subscriber.error(error); },
      complete: () => { subscriber.complete(); },
    });
  });
}

function bandsOf(quote: PricedQuote, prices: Float64Array, k: number): BollingerBands {
  // Summed from the first price on, so that a window that does not vary has a deviation of exactly 0.
  const origin = prices[0]!;
  let sum = 0;
  for (const price of prices) sum += price - origin;
  const middle = origin + sum / prices.length;
  let squares = 0;
  for (const price of prices) squares += (price - middle) ** 2;
  const deviation = Math.sqrt(squares / prices.length);
  const z = deviation === 0 ? 0 : (quote.price - middle) / deviation;
  return { quote, middle, lower: middle - k * deviation, upper: middle + k * deviation, z };
}
