import { EMPTY, map, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import type { BollingerBands } from '../src/strategy/index.ts';
import { amount, bollinger, coversCosts, defineStrategy, duration, pair, quotes } from '../src/strategy/index.ts';

/** Mean reversion on Bollinger bands: buys a dip, sells when the price is back at its mean. */
export default defineStrategy({
  name: 'mean-reversion',
  summary: 'Buys when the price is k standard deviations under its mean, sells when it is back.',
  losesMoneyWhen: 'It loses in a falling market: it takes each fall for a dip, and the mean falls after the price, '
    + 'so the way back ends below the purchase. Narrow bands lose too: they bring less than a round trip costs.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    every: duration().default('5s').describe('how often the price is polled'),
    window: z.int().min(2).max(10_000).default(20).describe('how many prices make the mean'),
    k: z.number().positive().default(2).describe('how many standard deviations under the mean is a dip'),
    exit_z: z.number().default(0).describe('at how many standard deviations from the mean to sell'),
    stop_z: z.number().negative().optional().describe('at how many standard deviations to give up and sell, -4 say; it '
      + 'buys again after the price was back at exit_z'),
    costs: z.strictObject({
      fee_bps: z.number().min(0).describe('the fees of one swap in basis points'),
      impact_bps: z.number().min(0).describe('the price impact of one swap, half of the spread included'),
      network: amount().optional().describe('the network fees of both swaps, in the quote token'),
      safety_bps: z.number().min(0).default(0).describe('by how much the way back must exceed the costs'),
    }).optional().describe('what a round trip costs: a dip whose way back to exit_z is shorter is not bought'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.costs?.network === undefined || p.costs.network.token.mint === p.pair.quote.mint, {
      path: ['costs', 'network'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.stop_z === undefined || p.stop_z < Math.min(-p.k, p.exit_z), {
      path: ['stop_z'], message: 'expected less than -k and less than exit_z',
    })
    .refine((p) => p.stop_z === undefined || -p.stop_z < Math.sqrt(p.window - 1), {
      path: ['stop_z'], message: 'expected a deviation below the square root of window - 1, which no price exceeds',
    }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => {
    const { stop_z: stop, costs } = p;
    // After a stop it waits for the way back, over restarts too: the next price is below the band as well.
    const stopped = stop === undefined ? map((event: BollingerBands) => ({ state: false, event }))
      : ctx.stateful('stopped', false, (known, { z: deviation }: BollingerBands) =>
        (deviation <= stop ? true : deviation >= p.exit_z ? false : known));
    const isWorthIt = ({ quote, middle, lower }: BollingerBands): boolean => {
      const way = (middle + (p.exit_z * (middle - lower)) / p.k) / quote.price - 1;
      return costs === undefined || coversCosts(way * 10_000, {
        feeBps: costs.fee_bps, impactBps: costs.impact_bps, fixed: costs.network, size: p.size,
        safetyBps: costs.safety_bps,
      });
    };
    return price.pipe(
      bollinger(p.window, p.k),
      stopped,
      mergeMap(({ state: isStopped, event: bands }) => {
        if (ctx.openIntents() > 0) return EMPTY;
        const { quote, middle, lower, z: deviation } = bands;
        const text = `${quote.price.toPrecision(6)} against a mean of ${middle.toPrecision(6)} `
          + `(${deviation.toFixed(1)} deviations)`;
        if (ctx.available(p.pair.base) > 0n) {
          if (isStopped) return of(ctx.sell(p.pair, 'all', `too far below the mean: ${text}`));
          return deviation >= p.exit_z ? of(ctx.sell(p.pair, 'all', `back at the mean: ${text}`)) : EMPTY;
        }
        return quote.price < lower && !isStopped && isWorthIt(bands)
          ? of(ctx.buy(p.pair, p.size, `below the lower band: ${text}`)) : EMPTY;
      }),
    );
  },
});
