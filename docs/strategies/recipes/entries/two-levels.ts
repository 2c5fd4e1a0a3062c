// Do not trade to and fro at a level
//
// A price that moves around one level crosses it many times, and each trade costs. `hysteresis` has two levels: it
// emits true where the number reaches the first, and false where it is back at the second. What is between them
// changes nothing, and the first clear reading after a start emits nothing.
import { amount, defineStrategy, hysteresis, pair, quotes } from 'gannet';
import { map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'two-levels',
  summary: 'Buys when the price falls to a level, and sells when it rises to a higher one.',
  losesMoneyWhen: 'The price falls below the lower level and does not come back.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    low: z.number().positive().describe('the price at which to buy'),
    high: z.number().positive().describe('the price at which to sell; above the costs of a round trip'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price: quoted }, p, ctx) => quoted.pipe(
    map(({ price }) => price),
    hysteresis(p.low, p.high),
    map((isLow) => (isLow ? ctx.buy(p.pair, p.size, `down to ${p.low}`)
      : ctx.sell(p.pair, 'all', `up to ${p.high}`))),
  ),
});
