// Trade only where the gain exceeds the costs
//
// A signal is worth nothing where its gain is smaller than the fees, the price impact and the network fees of both
// swaps. `coversCosts` compares the expected gain with all of them. Fee and impact are those of the quote that led
// to the decision. A quote that does not state its impact is no reason to trade.
import { amount, bollinger, coversCosts, defineStrategy, pair, quotes, whenFlat } from 'gannet';
import { filter, map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'covered-costs',
  summary: 'Buys below the mean price where the way back to it pays more than a round trip costs.',
  losesMoneyWhen: 'The mean comes down to the price, instead of the price up to the mean.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    network: amount().describe('the network fees of a round trip, in the quote token'),
    window: z.int().min(2).default(20).describe('how many prices make the mean'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    bollinger(p.window, 2),
    whenFlat(ctx, p.pair.base),
    filter(({ quote, middle }) => coversCosts((middle / quote.price - 1) * 10_000, {
      feeBps: quote.feeBps, impactBps: Math.abs(quote.priceImpact ?? Infinity) * 10_000,
      fixed: p.network, size: p.size, safetyBps: 10,
    })),
    map(({ middle }) => ctx.buy(p.pair, p.size, `the mean of ${middle.toFixed(2)} covers the costs`)),
  ),
});
