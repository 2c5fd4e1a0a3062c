// Wait for two confirmations
//
// A low quote may be an error of a single exchange. This entry counts how many polls in a row agree, and begins
// again at the first that does not. With more confirmations it refuses more errors and buys later: each costs one
// interval of the poll.
import { amount, defineStrategy, pair, quotes, when } from 'gannet';
import { scan } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'confirmations',
  summary: 'Buys once, when the price was below a level at several polls in a row.',
  losesMoneyWhen: 'The price keeps falling below the level, which more confirmations do not exclude.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
    confirmations: z.int().min(1).default(2).describe('how many polls in a row must agree'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price: quoted }, p, ctx) => quoted.pipe(
    scan((count, { price }) => (price < p.below ? count + 1 : 0), 0),
    when(ctx, 'entry', (count) => count >= p.confirmations, (count) =>
      ctx.buy(p.pair, p.size, `${count} prices in a row are below ${p.below}`)),
  ),
});
