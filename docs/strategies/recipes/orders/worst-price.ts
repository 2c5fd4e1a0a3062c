// Never pay more than the price that led to the decision
//
// Between the quote and the swap the price moves. `limit` is the least output in smallest units, whatever slippage
// the configuration allows: a swap that would bring less is not signed, or fails on the chain. Amounts are integers;
// compute them with `mulDiv`, and never from `price`, which is a double. `slippageBps` bounds the loss on the way to
// the chain.
import { amount, bps, defineStrategy, mulDiv, pair, quotes, when } from 'gannet';
import { z } from 'zod';

export default defineStrategy({
  name: 'worst-price',
  summary: 'Buys once below a price, and only if the swap still brings what the quote promised.',
  losesMoneyWhen: 'The price falls after the purchase. In a fast market it rarely buys at all.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
    tolerance_bps: z.int().min(0).max(1_000).default(20).describe('how much less it may bring, in basis points'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    when(ctx, 'entry', (quote) => quote.price < p.below, (quote) =>
      ctx.buy(p.pair, p.size, `at ${quote.price.toFixed(2)}`, {
        limit: mulDiv(quote.outAmount, BigInt(10_000 - p.tolerance_bps), 10_000n, 'ceil'),
        slippageBps: bps(p.tolerance_bps),
      })),
  ),
});
