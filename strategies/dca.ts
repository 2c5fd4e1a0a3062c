import { map } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, duration, slots, token } from '../src/strategy/index.ts';

/** Dollar-cost averaging: the same amount at every interval, whatever the price. */
export default defineStrategy({
  name: 'dca',
  summary: 'Buys a token for a fixed amount at a fixed interval.',
  params: z.strictObject({
    buy: token().describe('what to buy'),
    spend: amount().describe('what each purchase costs'),
    every: duration().describe('the interval; purchases fall on its multiples since the epoch'),
    offset: duration().optional().describe('shifts the purchases within the interval'),
    route: z.enum(['order', 'build']).default('order').describe('order: assembled and landed by the service; build: composed here, landed through the RPC'),
  }),
  inputs: () => ({}),
  // The slot's number is the key: however often the bot restarts within a slot, it buys once.
  run: (_inputs, p, ctx) => slots(ctx, p).pipe(
    map((slot) => ctx.swap(p.spend.token, p.buy, p.spend, `purchase of slot ${slot}, every ${p.every}`, {
      route: p.route,
      key: `slot-${slot}`,
    })),
  ),
});
