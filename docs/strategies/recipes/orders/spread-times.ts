// Spread orders by chance
//
// Orders at the full hour meet those of everyone else. `ctx.random` is the only chance that a strategy has: it is
// seeded, so that a replay draws the same numbers. A restart within an interval draws another time, and the key of
// the interval keeps that from becoming a second purchase.
import { amount, defineStrategy, duration, pair, parseDuration, quotes, slots, timer } from 'gannet';
import { map, switchMap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'spread-times',
  summary: 'Buys once in each interval, at a moment that chance chooses.',
  losesMoneyWhen: 'The price falls for longer than the purchases last.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    every: duration().default('1h').describe('the interval'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '30s' }) }),
  run: (_inputs, p, ctx) => slots(ctx, p).pipe(
    switchMap((slot) => {
      const wait = Math.floor(ctx.random() * parseDuration(p.every));
      return timer(ctx, `${wait}ms`).pipe(map(() => ctx.buy(p.pair, p.size, 'by chance', { key: `slot-${slot}` })));
    }),
  ),
});
