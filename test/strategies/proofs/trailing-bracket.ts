import { merge } from 'rxjs';
import { z } from 'zod';
import { amount, bracketOrder, defineStrategy, pair, quotes, trailingOrder } from '../../../src/strategy/index.ts';

/** Enters once, and leaves at a gain, at a loss, or behind the best price. */
export default defineStrategy({
  name: 'trailing-bracket',
  summary: 'Buys once, and sells at a gain, at a loss, or at a distance from the best price.',
  params: z.strictObject({
    pair: pair(), size: amount(), sale: amount(),
    gain: z.number().gt(0), loss: z.number().gt(0).lt(1), distance: z.number().gt(0).lt(1), after: z.number().min(0),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.sale, every: '5s' }) }),
  run: ({ price }, p, ctx) => {
    const leave = (why: string) => ctx.sell(p.pair, 'all', why);
    return merge(
      price.pipe(bracketOrder(ctx, {
        key: 'bracket', token: p.pair.base, takeProfit: p.gain, stopLoss: p.loss, leave,
        enter: () => ctx.buy(p.pair, p.size, 'the entry'),
      })),
      price.pipe(trailingOrder(ctx, { key: 'trail', distance: p.distance, after: p.after }, () => leave('the trail'))),
    );
  },
});
