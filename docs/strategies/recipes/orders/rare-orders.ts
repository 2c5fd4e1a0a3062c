// Wait an hour between purchases
//
// `cooldown` lets one event pass, then none for a time. Put it last, behind all conditions, or events that lead to
// nothing use it up. With a name the pause outlives restarts; without one it begins again with each start.
import { amount, cooldown, defineStrategy, duration, pair, quotes } from 'gannet';
import { filter, map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'rare-orders',
  summary: 'Buys while the price is below a level, with a pause after each purchase.',
  losesMoneyWhen: 'The price falls on and on.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
    pause: duration().default('1h').describe('how long to wait after a purchase'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price: quoted }, p, ctx) => quoted.pipe(
    filter(({ price }) => price < p.below && ctx.openIntents() === 0),
    cooldown(ctx, p.pause, 'pause'),
    map(({ price }) => ctx.buy(p.pair, p.size, `at ${price.toFixed(2)}`)),
  ),
});
