// Take a gain or stop a loss at two prices
//
// `oneCancelsOther` sells once, by the first side in the list whose condition holds, over restarts too. A failed
// sale is proposed again at the next price that asks for it. The price is that of a sale of the size, not that of a
// purchase, so watch an amount of the base token.
import { amount, defineStrategy, oneCancelsOther, pair, quotes, when } from 'gannet';
import { merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'gain-or-stop',
  summary: 'Buys once at the start, and sells at the first of two prices.',
  losesMoneyWhen: 'The lower price comes first, or the price falls far below it between two polls.',
  params: z.strictObject({
    pair: pair(),
    spend: amount().describe('what the purchase costs, in the quote token'),
    sale: amount().describe('a size of about the position, in the base token; its price counts'),
    gain: z.number().positive().describe('the price at which to take the gain'),
    stop: z.number().positive().describe('the price at which to stop the loss'),
  }),
  inputs: (p) => ({ sale: quotes(p.pair, { amount: p.sale, every: '5s' }) }),
  run: ({ sale }, p, ctx) => merge(
    sale.pipe(when(ctx, 'entry', ({ price }) => price > p.stop && price < p.gain, () =>
      ctx.buy(p.pair, p.spend, 'start'))),
    sale.pipe(oneCancelsOther(ctx, 'exit', [
      { when: ({ price }) => price <= p.stop && ctx.available(p.pair.base) > 0n,
        swap: () => ctx.sell(p.pair, 'all', 'stop') },
      { when: ({ price }) => price >= p.gain && ctx.available(p.pair.base) > 0n,
        swap: () => ctx.sell(p.pair, 'all', 'gain') },
    ])),
  ),
});
