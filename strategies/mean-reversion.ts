import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { amount, bollinger, defineStrategy, duration, pair, quotes } from '../src/strategy/index.ts';

/** Mean reversion on Bollinger bands: buys a dip, sells when the price is back at its mean. */
export default defineStrategy({
  name: 'mean-reversion',
  summary: 'Buys when the price is k standard deviations under its mean, sells when it is back.',
  losesMoneyWhen: 'The price trends down: each dip is bought, and the mean follows the price to a loss. Bands narrower '
    + 'than the costs of a round trip lose too.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    every: duration().default('5s').describe('how often the price is polled'),
    window: z.int().min(2).max(10_000).default(20).describe('how many prices make the mean'),
    k: z.number().positive().default(2).describe('how many standard deviations under the mean is a dip'),
    exit_z: z.number().default(0).describe('at how many standard deviations from the mean to sell'),
  }).refine((p) => p.size.token.mint === p.pair.quote.mint, {
    path: ['size'], message: 'expected an amount of the pair’s quote token',
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => price.pipe(
    bollinger(p.window, p.k),
    mergeMap(({ quote, middle, lower, z: deviation }) => {
      if (ctx.openIntents() > 0) return EMPTY;
      const text =
        `${quote.price.toPrecision(6)} against a mean of ${middle.toPrecision(6)} (${deviation.toFixed(1)} deviations)`;
      if (ctx.available(p.pair.base) > 0n) {
        return deviation >= p.exit_z ? of(ctx.sell(p.pair, 'all', `back at the mean: ${text}`)) : EMPTY;
      }
      return quote.price < lower ? of(ctx.buy(p.pair, p.size, `below the lower band: ${text}`)) : EMPTY;
    }),
  ),
});
