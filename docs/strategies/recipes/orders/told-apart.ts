// Tell parallel orders apart
//
// Each order has a key, under which it swaps once, and a `tag` of your own. Outcomes and refusals carry both back,
// so the strategy knows which of its orders was filled. `retry` lets orders that are due at one moment wait for each
// other. `limitOrder` keeps its progress under its key.
import { amount, defineStrategy, limitOrder, pair, quotes } from 'gannet';
import { filter, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'told-apart',
  summary: 'Holds several limit purchases at once and says which of them is filled.',
  losesMoneyWhen: 'The price falls through all levels.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what each purchase costs, in the quote token'),
    levels: z.array(z.number().positive()).min(1).max(10).describe('the prices at which to buy, one purchase each'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => merge(
    ...p.levels.map((level, index) => price.pipe(
      limitOrder(ctx, { key: `level-${index}`, side: 'buy', price: level }, () =>
        ctx.buy(p.pair, p.size, 'limit', { tag: String(level), retry: { until: '5m', every: '5s' } })),
    )),
    ctx.outcomes$.pipe(
      filter(({ state }) => state === 'confirmed'),
      map(({ tag = '' }) => ctx.alert('info', `the order at ${tag} is filled`)),
    ),
  ),
});
