// Put a stop at a multiple of the range
//
// A stop at a fixed distance is too near in a wild market and too far in a calm one. The average true range measures
// how far a bar moves. The entry price is that of `ctx.position`, with fees, and needs no state of its own.
import { amount, bars, defineStrategy, indicate, pair } from 'gannet';
import { ATR } from 'gannet/indicators';
import { EMPTY, filter, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'range-stop',
  summary: 'Buys when the range is known, and sells when a bar closes several ranges below the entry.',
  losesMoneyWhen: 'The price falls through the stop between two bars, or touches it and turns.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    bars: z.int().min(1).default(14).describe('over how many bars the range is averaged'),
    ranges: z.number().positive().default(2).describe('the distance of the stop, in ranges'),
  }),
  inputs: (p) => ({ bar: bars(p.pair, { every: '1m', poll: '10s', amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    indicate(() => new ATR(p.bars)),
    filter(() => ctx.openIntents() === 0),
    mergeMap(({ input: { close }, value: range }) => {
      const { available, entryPrice = 0 } = ctx.position(p.pair.base);
      if (available === 0n) return of(ctx.buy(p.pair, p.size, 'the range is known'));
      const stop = entryPrice - p.ranges * range;
      return close < stop ? of(ctx.sell(p.pair, 'all', `below the stop at ${stop.toFixed(2)}`)) : EMPTY;
    }),
  ),
});
