// Poll faster only while it matters
//
// Every request counts against the plan. A slow declared input decides when a fast one is worth it; `ctx.watch`
// begins to poll with the first subscription, and `switchMap` ends it with the next decision. A watch has no
// warm-up, and `config check` does not count its requests.
import { amount, defineStrategy, hysteresis, pair, quotes } from 'gannet';
import { EMPTY, filter, map, switchMap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'faster-polls',
  summary: 'Polls each second while the price is near a level, and alerts when it is reached.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts is later than those who poll faster.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('the size whose price is watched'),
    level: z.number().positive().describe('the price to wait for, from above'),
    near: z.number().positive().default(0.01).describe('the distance at which to poll faster, as a fraction'),
  }),
  inputs: (p) => ({ slow: quotes(p.pair, { amount: p.size, every: '1m' }) }),
  run: ({ slow }, p, ctx) => slow.pipe(
    map(({ price }) => price / p.level - 1),
    hysteresis(p.near, p.near * 2),
    switchMap((isNear) => (isNear ? ctx.watch(quotes(p.pair, { amount: p.size, every: '1s' })) : EMPTY)),
    filter(({ price }) => price <= p.level),
    map(({ price }) => ctx.alert('info', `at ${price.toFixed(2)}`)),
  ),
});
