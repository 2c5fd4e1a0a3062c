import { map, merge } from 'rxjs';
import { z } from 'zod';
import {
  bookTop, defineStrategy, depthImbalance, depthWithin, duration, hysteresis, ONE_USD, orderBook,
} from '../src/strategy/index.ts';

/** Watches how the orders near the best prices of a prediction market are divided; it never trades. */
export default defineStrategy({
  name: 'book-imbalance',
  summary: 'Alerts when the orders near the best prices of a prediction market lean to one side.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts pays the spread each time, and loses where the '
    + 'orders were never meant to fill: they are withdrawn once others have followed them.',
  params: z.strictObject({
    market: z.string().min(1).describe('the market’s identifier'),
    within: z.number().gt(0).max(0.5).default(0.03)
      .describe('how far from the best price of their side orders count, in dollars'),
    lean: z.number().gt(0).lt(1).default(0.6)
      .describe('the imbalance that is told: (bids - asks) / (bids + asks) of YES, 0 to 1 either way'),
    rearm: z.number().min(0).lt(1).default(0.3).describe('how far it must fall back before it is told again'),
    confirm: z.int().min(1).default(3).describe('how many polls in a row must agree: a bluff is withdrawn soon'),
    min_depth: z.number().min(0).default(100).describe('a book with fewer contracts there, on both sides, is ignored'),
    max_spread: z.number().gt(0).max(1).default(0.05).describe('a book with a wider spread is ignored, in dollars'),
    every: duration().default('5s').describe('how often the book is polled'),
  }).refine((p) => p.rearm < p.lean, { path: ['rearm'], message: 'expected less than lean' }),
  inputs: (p) => ({ book: orderBook(p.market, { every: p.every }) }),
  run: ({ book }, p, ctx) => {
    const imbalance = book.pipe(map((latest) => {
      const { spread } = bookTop(latest, 'yes');
      const { bid, ask } = depthWithin(latest, 'yes', p.within);
      const isUsable = spread !== undefined && spread <= p.max_spread * ONE_USD && bid + ask >= p.min_depth;
      // NaN is no reading: a missing side is not a side without interest.
      return isUsable ? depthImbalance(latest, 'yes', p.within) ?? Number.NaN : Number.NaN;
    }));
    const leaning = (side: 'yes' | 'no', sign: 1 | -1) => imbalance.pipe(
      hysteresis(sign * p.lean, sign * p.rearm, {
        confirm: p.confirm, start: false, keep: { context: ctx, name: side },
      }),
      map((isLeaning) => ctx.alert('info', isLeaning
        ? `${p.market}: the orders within $${p.within} lean to ${side.toUpperCase()}`
        : `${p.market}: the orders lean to ${side.toUpperCase()} no more`, { market: p.market, side, isLeaning })),
    );
    return merge(leaning('yes', 1), leaning('no', -1));
  },
});
