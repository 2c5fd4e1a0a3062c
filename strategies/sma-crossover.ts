import { filter, map, merge, tap } from 'rxjs';
import { z } from 'zod';
import type { Trend } from '../src/strategy/index.ts';
import { amount, defineStrategy, delay, duration, pair, quotes, smaCrossover } from '../src/strategy/index.ts';

/** The pause before a failed sale is tried again. */
const RETRY = '5s';

/** The classic trend follower; the benchmarks of the engine use it too. */
export default defineStrategy({
  name: 'sma-crossover',
  summary: 'Buys when the fast moving average rises above the slow one, sells when it falls below.',
  losesMoneyWhen: 'The price moves sideways: each crossing buys high, sells low, and pays the costs of a round trip.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what one purchase costs, in the quote token; also the size whose price is watched'),
    every: duration().default('5s').describe('how often the price is polled'),
    fast: z.int().min(1).max(10_000).default(20).describe('how many prices make the fast average'),
    slow: z.int().min(2).max(10_000).default(100).describe('how many prices make the slow average'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.fast < p.slow, { path: ['fast'], message: 'expected less than slow' }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => {
    let now: Trend | undefined;
    const crossings = price.pipe(
      smaCrossover(p.fast, p.slow),
      tap(({ trend }) => { now = trend; }),
      filter(({ trend }) => trend === 'above' || ctx.available(p.pair.base) > 0n),
      map(({ trend, at }) => {
        const text = `the ${p.fast}-price mean is ${trend} the ${p.slow}-price mean at ${at.price.toPrecision(6)}`;
        return trend === 'above' ? ctx.buy(p.pair, p.size, text) : ctx.sell(p.pair, 'all', text);
      }),
    );
    // A crossing is proposed once. A failed purchase is a missed opportunity, but a failed sale leaves a position open.
    const unsold = merge(ctx.denials$, ctx.outcomes$.pipe(filter(({ state }) =>
      state === 'abandoned' || state === 'failed' || state === 'expired'))).pipe(
      delay(ctx, RETRY),
      filter(() => now === 'below' && ctx.openIntents() === 0 && ctx.available(p.pair.base) > 0n),
      map(() => ctx.sell(p.pair, 'all', 'the trend is still down, and the last sale came to nothing')),
    );
    return merge(crossings, unsold);
  },
});
