// Size by volatility
//
// A position of the same money moves more in a wild market. `volatilityWeight` gives the share of equity that keeps
// the movement at a target: target over realised volatility, at most one. Both must be of the same span, here one
// bar. Small results are left out, because fixed fees would dominate them.
import { amount, atLeast, bars, defineStrategy, indicate, pair, percentOfEquity, volatilityWeight } from 'gannet';
import { NATR } from 'gannet/indicators';
import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'volatility-size',
  summary: 'Buys a share of the equity that is smaller the more the price moves.',
  losesMoneyWhen: 'A calm market turns wild at once: the size follows the bars of the past.',
  params: z.strictObject({
    pair: pair(),
    quoted: amount().describe('the size whose price is watched, in the quote token'),
    target: z.number().positive().default(0.005).describe('how far the whole equity may move in a bar, as a fraction'),
    bars: z.int().min(1).default(14).describe('over how many bars the range is averaged'),
    minimum: amount().describe('the least purchase, in the quote token'),
  }),
  inputs: (p) => ({ bar: bars(p.pair, { every: '5m', poll: '30s', amount: p.quoted }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    indicate(() => new NATR(p.bars)),
    mergeMap(({ value: range }) => {
      if (ctx.openIntents() > 0 || ctx.available(p.pair.base) > 0n) return EMPTY;
      const weight = volatilityWeight(p.target, range / 100);
      const size = atLeast(percentOfEquity(ctx, weight * 100), p.minimum);
      return size === undefined ? EMPTY : of(ctx.buy(p.pair, size, `a bar moves ${range.toFixed(2)} %`));
    }),
  ),
});
