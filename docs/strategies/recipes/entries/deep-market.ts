// Buy only where the market is deep
//
// The price of a small size hides how little is offered behind it. `quoteLadder` asks for several sizes at once and
// emits when all were answered. Where a size ten times as large costs nearly the same, the price does not hang on
// one offer. Each size is one request.
import { amount, defineStrategy, fractionOf, pair, quoteLadder, when } from 'gannet';
import { z } from 'zod';

export default defineStrategy({
  name: 'deep-market',
  summary: 'Buys a tenth of a size once, when the whole size costs nearly the same price.',
  losesMoneyWhen: 'The price falls: depth limits the costs of the trade, and no more.',
  params: z.strictObject({
    pair: pair(),
    depth: amount().describe('the size that the market must hold, in the quote token; a tenth of it is bought'),
    impact: z.number().positive().default(0.001).describe('how much dearer the whole size may be, as a fraction'),
  }),
  inputs: (p) => ({ sizes: quoteLadder(p.pair, { amounts: [fractionOf(p.depth, 0.1), p.depth], every: '10s' }) }),
  run: ({ sizes }, p, ctx) => sizes.pipe(
    when(ctx, 'entry', ({ rungs: [small, large] }) => large!.price <= small!.price * (1 + p.impact), () =>
      ctx.buy(p.pair, fractionOf(p.depth, 0.1), 'ten times the size costs nearly the same')),
  ),
});
