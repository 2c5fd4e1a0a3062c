import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, duration, pair, quotes, smaCrossover } from '../src/strategy/index.ts';

/** The classic trend follower; also what the speed of the engine is measured with. */
export default defineStrategy({
  name: 'sma-crossover',
  summary: 'Buys when the fast moving average rises above the slow one, sells when it falls below.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    every: duration().default('5s').describe('how often the price is looked at'),
    fast: z.int().min(1).max(10_000).default(20).describe('how many prices make the fast average'),
    slow: z.int().min(2).max(10_000).default(100).describe('how many prices make the slow average'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, { path: ['size'], message: 'expected an amount of the pair’s quote token' })
    .refine((p) => p.fast < p.slow, { path: ['fast'], message: 'expected less than slow' }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => price.pipe(
    smaCrossover(p.fast, p.slow),
    mergeMap(({ trend, at }) => {
      const text = `the ${p.fast}-price mean is ${trend} the ${p.slow}-price mean at ${at.price.toPrecision(6)}`;
      if (trend === 'above') return of(ctx.buy(p.pair, p.size, text));
      return ctx.available(p.pair.base) > 0n ? of(ctx.sell(p.pair, 'all', text)) : EMPTY;
    }),
  ),
});
