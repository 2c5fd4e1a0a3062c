import { distinctUntilChanged, filter, map, pairwise } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, indicate, pair, quotes } from '../../../src/strategy/index.ts';
import { EMA } from '../../../src/strategy/technical-indicators.ts';

/** Trades the crosses of two exponential means; each keeps what it needs over restarts. */
export default defineStrategy({
  name: 'ema-cross',
  summary: 'Buys when the fast exponential mean rises above the slow one, sells when it falls below.',
  params: z.strictObject({
    pair: pair(), size: amount(), fast: z.int().min(1).default(12), slow: z.int().min(2).default(26),
    /** A cross counts once the means differ by this fraction. */
    hysteresis: z.number().min(0).default(0.001),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    indicate({ fast: () => new EMA(p.fast), slow: () => new EMA(p.slow) }, {
      keep: { context: ctx, name: 'means', inputs: 8 * p.slow },
    }),
    filter(({ fast, slow }) => Math.abs(fast / slow - 1) > p.hysteresis),
    map(({ fast, slow }) => fast > slow),
    distinctUntilChanged(),
    pairwise(),
    map(([, isAbove]) => isAbove),
    filter((isAbove) => isAbove || ctx.available(p.pair.base) > 0n),
    map((isAbove) => (isAbove ? ctx.buy(p.pair, p.size, 'the fast mean is above the slow one')
      : ctx.sell(p.pair, 'all', 'the fast mean is below the slow one'))),
  ),
});
