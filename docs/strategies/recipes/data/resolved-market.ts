// Act on a resolved market
//
// A market that resolves stays closed and has a result: "yes", "no", or another text, which is neither. Prices of a
// closed market are undefined, never 0. `when` acts once, although each later poll shows the same result. The event
// is watched in pages of 20 markets; name the page where the market is not on the first one.
import { amount, defineStrategy, pair, predictionMarket, quotes, when } from 'gannet';
import { z } from 'zod';

export default defineStrategy({
  name: 'resolved-market',
  summary: 'Buys a token once when a prediction market resolves to YES.',
  losesMoneyWhen: 'The result was expected, so that the price rose before it, or the price ignores it.',
  params: z.strictObject({
    event: z.string().describe('the identifier of the event'),
    market: z.string().describe('the identifier of the market'),
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
  }),
  inputs: (p) => ({
    market: predictionMarket({ event: p.event, market: p.market }, { every: '10s' }),
    price: quotes(p.pair, { amount: p.size, every: '10s' }),
  }),
  run: ({ market }, p, ctx) => market.pipe(
    when(ctx, 'resolved', (now) => now.market.result === 'yes', () =>
      ctx.buy(p.pair, p.size, `${p.market} resolved to YES`)),
  ),
});
