import type { OperatorFunction } from 'rxjs';
import { Observable } from 'rxjs';
import type { PricedQuote } from '../input.ts';
import { Sma } from './sma.ts';

export type Trend = 'above' | 'below';

/** Two means closer than this, relative to their size, differ by rounding alone. */
const ROUNDING = 1e-12;

/**
 * Emits when the fast moving average of the price comes to stand above or below the slow one; nothing before the slow
 * one is full, nothing while the relation stays. One operator for what would be four, and silent in between: the
 * engine's speed rests on operators of this kind.
 */
export function smaCrossover(
  fastWindow: number, slowWindow: number,
): OperatorFunction<PricedQuote, { trend: Trend; at: PricedQuote }> {
  return (source) => new Observable((subscriber) => {
    const fast = new Sma(fastWindow);
    const slow = new Sma(slowWindow);
    let trend: Trend | undefined;
    return source.subscribe({
      next: (quote) => {
        const fastMean = fast.push(quote.price);
        const slowMean = slow.push(quote.price);
        if (!slow.full || Math.abs(fastMean - slowMean) <= Math.abs(slowMean) * ROUNDING) return;
        const now: Trend = fastMean > slowMean ? 'above' : 'below';
        if (now === trend) return;
        trend = now;
        subscriber.next({ trend, at: quote });
      },
      error: (error: unknown) => { subscriber.error(error); },
      complete: () => { subscriber.complete(); },
    });
  });
}
