// Warm up from recordings
//
// A mean of the last hour is unknown in the first hour after a start. With `warmup: 1h` beside the budget, the
// recorded events before the start go through the strategy first, and what it proposes meanwhile is dropped. Write
// no code for it: everything in memory is built up as if it had run. States stand still, because they are younger
// than the events.
import { amount, defineStrategy, pair, quotes, Sma } from 'gannet';
import { filter, map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'warm-up',
  summary: 'Buys when the price is well below its mean of an hour.',
  losesMoneyWhen: 'The price falls for longer than the mean is long.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    share: z.number().gt(0).lt(1).default(0.97).describe('buys below this share of the mean'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1m' }) }),
  run: ({ price: quoted }, p, ctx) => {
    const hour = new Sma(60);
    return quoted.pipe(
      map(({ price }) => ({ price, mean: hour.push(price) })),
      filter(({ price, mean }) => hour.full && price < mean * p.share && ctx.openIntents() === 0),
      filter(() => ctx.available(p.pair.base) === 0n),
      map(({ mean }) => ctx.buy(p.pair, p.size, `the mean of an hour is ${mean.toFixed(2)}`)),
    );
  },
});
