// Say why orders are refused
//
// `denials$` emits what risk refused, with a stable code, the key and the tag. The operator sees each refusal in the
// decisions anyway; a strategy reads it to change what it does. Never propose again at once: the answer would be the
// same. `throttleTime` keeps a hundred refusals from being a hundred alerts.
import { amount, defineStrategy, pair, quotes, throttleTime } from 'gannet';
import { filter, groupBy, map, merge, mergeMap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'refusals',
  summary: 'Buys below a price, and alerts once an hour for each cause of refusals.',
  losesMoneyWhen: 'The price falls on after a purchase.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1m' }) }),
  run: ({ price: quoted }, p, ctx) => merge(
    quoted.pipe(
      filter(({ price }) => price < p.below && ctx.openIntents() === 0),
      map(() => ctx.buy(p.pair, p.size, 'cheap')),
    ),
    ctx.denials$.pipe(
      groupBy(({ code }) => code),
      mergeMap((ofCode) => ofCode.pipe(throttleTime(ctx, '1h'))),
      map(({ code, reason }) => ctx.alert('warning', `refused: ${code}`, { reason })),
    ),
  ),
});
