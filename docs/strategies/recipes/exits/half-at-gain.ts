// Sell half at a gain
//
// `ctx.position` has the gain of the whole position: what its sale would bring, less what it cost with fees. It is
// undefined without a fresh price, which is no gain. `when` sells once under its key, so that half of the rest is
// not sold at the next quote. Without code, `take_profit` of the [exits](../exits.md) does the same.
import { amount, defineStrategy, limitOrder, pair, quotes, when } from 'gannet';
import { merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'half-at-gain',
  summary: 'Buys once at a limit, and sells half of the position once at a gain.',
  losesMoneyWhen: 'The price falls: nothing here sells at a loss.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    entry: z.number().positive().describe('the price at which to buy, or below'),
    gain: z.number().positive().default(0.1).describe('the gain at which to sell half, as a fraction'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => merge(
    price.pipe(limitOrder(ctx, { key: 'entry', side: 'buy', price: p.entry }, () =>
      ctx.buy(p.pair, p.size, `${p.entry} or less`))),
    price.pipe(when(ctx, 'half', () => (ctx.position(p.pair.base).gain ?? 0) >= p.gain, () =>
      ctx.sell(p.pair, { fraction: 0.5 }, `a gain of ${p.gain * 100} %`))),
  ),
});
