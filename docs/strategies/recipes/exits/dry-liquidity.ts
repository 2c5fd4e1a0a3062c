// Leave when the liquidity is withdrawn
//
// What the pools of a token hold can be withdrawn before the price moves. This exit compares it with the most that
// was seen, which is a state. A figure that the service leaves out is not zero: it changes nothing. Statistics of
// many tokens share requests.
import { amount, defineStrategy, pair, quotes, tokenStats, when } from 'gannet';
import { filter, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'dry-liquidity',
  summary: 'Buys a token once, and sells it when its pools hold much less than before.',
  losesMoneyWhen: 'The liquidity is withdrawn between two polls, and the sale is the last one in line.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    share: z.number().positive().max(1).default(0.7).describe('sells below this share of the most that was seen'),
  }),
  inputs: (p) => ({
    price: quotes(p.pair, { amount: p.size, every: '10s' }), stats: tokenStats(p.pair.base, { every: '10s' }),
  }),
  run: ({ price, stats }, p, ctx) => {
    const most = ctx.stateful('most', 0, (before, liquidity: number) => Math.max(before, liquidity));
    return merge(
      price.pipe(when(ctx, 'entry', () => most.value > 0, () => ctx.buy(p.pair, p.size, 'the liquidity is known'))),
      stats.pipe(
        map(({ values }) => values.liquidity), filter((liquidity) => liquidity !== undefined), most,
        when(ctx, 'exit', ({ state, event }) => event < state * p.share && ctx.available(p.pair.base) > 0n,
          ({ state, event }) => ctx.sell(p.pair, 'all', `$${event} of $${state} is left`)),
      ),
    );
  },
});
