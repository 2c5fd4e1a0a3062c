// Trade only by a simple route
//
// With `detail` a quote carries all that the service says: the route, the values in US dollars, fees. Routes of
// several exchanges fail more often. What the service does not say is absent, so the defaults here stand for "not
// good enough". A backtest needs a recording that holds complete quotes.
import { amount, defineStrategy, pair, quotes, when } from 'gannet';
import { z } from 'zod';

export default defineStrategy({
  name: 'one-exchange',
  summary: 'Buys once, when one exchange alone fills the purchase at nearly its value.',
  losesMoneyWhen: 'The price falls, or the values in US dollars of the service are wrong.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    loss: z.number().positive().default(0.001).describe('how much value the swap may lose, as a fraction'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s', detail: true }) }),
  run: ({ price }, p, ctx) => price.pipe(
    when(ctx, 'entry', ({ detail: { route = [], inUsdValue = Infinity, outUsdValue = 0 } }) =>
      route.length === 1 && outUsdValue >= inUsdValue * (1 - p.loss),
    () => ctx.buy(p.pair, p.size, 'one exchange fills it at nearly its value')),
  ),
});
