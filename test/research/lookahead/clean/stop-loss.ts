import { filter, map, merge, mergeMap } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes, token } from '../../../../src/strategy/index.ts';

/** Buys every twentieth price, and sells what fell by a hundredth since it was bought. */
export default defineStrategy({
  name: 'stop-loss',
  summary: 'A strategy of the tests.',
  params: z.strictObject({ pair: pair(), size: amount(), token: token(), dir: z.string() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => {
    let paid = 0;
    let latest = 0;
    const filled = ctx.outcomes$.pipe(filter(({ state }) => state === 'confirmed'), map(({ fill }) =>
      ctx.alert('info', `filled ${fill?.amountOut} at ${latest}`)));
    return merge(filled, price.pipe(mergeMap(({ price: now }, n) => {
      latest = now;
      if (ctx.openIntents() > 0) return [];
      const isHeld = ctx.available(p.pair.base) > 0n;
      if (isHeld && now < 0.99 * paid) return [ctx.sell(p.pair, 'all', `fell from ${paid}`)];
      if (isHeld || n % 20 !== 0) return [];
      paid = now;
      return [ctx.buy(p.pair, p.size, 'a twentieth price')];
    })));
  },
});
