import { EMPTY, filter, map, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { amount, bars, defineStrategy, duration, indicate, pair } from '../../../src/strategy/index.ts';
import { RSI } from '../../../src/strategy/technical-indicators.ts';

/** Buys what is oversold, and sells what is overbought, on the closes of bars. */
export default defineStrategy({
  name: 'rsi',
  summary: 'Buys below one level of the relative strength index of closed bars, sells above another.',
  params: z.strictObject({
    pair: pair(), size: amount(), bar: duration().default('5m'), poll: duration().default('10s'),
    window: z.int().min(2).max(200).default(14),
    buy_below: z.number().gt(0).lt(100).default(30), sell_above: z.number().gt(0).lt(100).default(70),
  }),
  inputs: (p) => ({ bar: bars(p.pair, { every: p.bar, poll: p.poll, amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    filter(({ isGap }) => isGap !== true),
    map(({ close }) => close),
    indicate(() => new RSI(p.window), { keep: { context: ctx, name: 'closes', inputs: 10 * p.window } }),
    mergeMap(({ value }) => {
      if (ctx.openIntents() > 0) return EMPTY;
      const text = `the index is ${value.toFixed(1)}`;
      if (ctx.available(p.pair.base) > 0n) return value > p.sell_above ? of(ctx.sell(p.pair, 'all', text)) : EMPTY;
      return value < p.buy_below ? of(ctx.buy(p.pair, p.size, text)) : EMPTY;
    }),
  ),
});
