import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { defineStrategy, duration, impliedProbability, orderBook } from '../src/strategy/index.ts';

/** Watches a prediction market and alerts when its implied probability crosses a level; it never trades. */
export default defineStrategy({
  name: 'book-watch',
  summary: 'Alerts when a prediction market’s implied probability crosses a level, with hysteresis.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts loses where a thin book moves without news.',
  params: z.strictObject({
    market: z.string().min(1).describe('the market’s identifier'),
    level: z.number().gt(0).lt(1).describe('the probability of YES to watch for'),
    rearm: z.number().gt(0).lt(1).describe('how far it must fall back before it can alert again'),
    confirm: z.int().min(1).default(2).describe('how many polls in a row must agree'),
    max_spread: z.number().gt(0).max(1).default(0.1).describe('a book with a wider spread is ignored, in dollars'),
    every: duration().default('5s').describe('how often the book is polled'),
  }).refine((p) => p.rearm < p.level, {
    path: ['rearm'], message: 'expected less than level, so that noise around it is not news',
  }),
  inputs: (p) => ({ book: orderBook(p.market, { every: p.every }) }),
  run: ({ book }, p, ctx) => {
    // Where the probability stands is known only after the first clear reading: a start above the level is not a
    // crossing.
    let side: 'above' | 'below' | undefined;
    let candidate: typeof side;
    let agreeing = 0;
    return book.pipe(mergeMap((latest) => {
      const probability = impliedProbability(latest, p.max_spread);
      if (probability === undefined) return EMPTY;
      const now = probability >= p.level ? 'above' : probability <= p.rearm ? 'below' : side;
      if (now === side || now === undefined) {
        agreeing = 0;
        return EMPTY;
      }
      agreeing = now === candidate ? agreeing + 1 : 1;
      candidate = now;
      if (agreeing < p.confirm) return EMPTY;
      const before = side;
      side = now;
      agreeing = 0;
      if (before === undefined) return EMPTY;
      const percent = (probability * 100).toFixed(1);
      const message = now === 'above'
        ? `${p.market}: YES rose to ${percent} %, above ${percentOf(p.level)} %`
        : `${p.market}: YES fell to ${percent} %, below ${percentOf(p.rearm)} %`;
      return of(ctx.alert('info', message, { market: p.market, probability, level: p.level }));
    }));
  },
});

/** A fraction in percent, free of what doubles add to it. */
function percentOf(fraction: number): number {
  return Math.round(fraction * 1e4) / 100;
}
