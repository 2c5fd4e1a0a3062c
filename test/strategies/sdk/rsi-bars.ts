import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, indicate, over, pair, quotes } from '../../../src/strategy/index.ts';
import { ATR, RSI } from '../../../src/strategy/technical-indicators.ts';
import { barsOf } from './minute-bars.ts';

/** Buys where the index of closed bars is low and the market moves, and sells where it is high. */
export default defineStrategy({
  name: 'rsi-bars',
  summary: 'Buys below one level of the relative strength index, sells above another.',
  params: z.strictObject({
    pair: pair(), size: amount(), window: z.int().min(2).default(14), bar_ms: z.int().positive().default(60_000),
    buy_below: z.number().default(30), sell_above: z.number().default(70), min_range: z.number().default(0),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    barsOf(p.bar_ms),
    indicate({ rsi: over('close', () => new RSI(p.window)), range: () => new ATR(p.window) }),
    mergeMap(({ rsi, range }) => {
      if (ctx.openIntents() > 0) return EMPTY;
      const text = `the index is ${rsi.toFixed(1)}`;
      if (ctx.available(p.pair.base) > 0n) return rsi > p.sell_above ? of(ctx.sell(p.pair, 'all', text)) : EMPTY;
      return rsi < p.buy_below && range >= p.min_range ? of(ctx.buy(p.pair, p.size, text)) : EMPTY;
    }),
  ),
});
