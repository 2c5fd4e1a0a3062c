// Buy only while the spread is small
//
// The spread is what a purchase costs if it is sold again at once, with the price impact of both sizes. `twoSided`
// emits when both sides were answered again, so that the two prices belong together. It costs two requests each
// time. `when` swaps once, over restarts too.
import { amount, defineStrategy, pair, twoSided, when } from 'gannet';
import { z } from 'zod';

export default defineStrategy({
  name: 'small-spread',
  summary: 'Buys once, at the first moment at which a round trip costs little enough.',
  losesMoneyWhen: 'The price falls after the purchase: a small spread says nothing about the direction.',
  params: z.strictObject({
    pair: pair(),
    spend: amount().describe('what the purchase costs, in the quote token'),
    sale: amount().describe('the sale to compare with, in the base token; choose about the same value'),
    widest: z.number().positive().default(0.002).describe('the widest spread, as a fraction of the price'),
  }),
  inputs: (p) => ({ sides: twoSided(p.pair, { buy: p.spend, sell: p.sale, every: '10s' }) }),
  run: ({ sides }, p, ctx) => sides.pipe(
    when(ctx, 'entry', ({ spread }) => spread <= p.widest, ({ spread }) =>
      ctx.buy(p.pair, p.spend, `a round trip costs ${(spread * 100).toFixed(2)} %`)),
  ),
});
