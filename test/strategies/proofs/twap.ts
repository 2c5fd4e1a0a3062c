import { z } from 'zod';
import { amount, defineStrategy, duration, quotes, token, twap } from '../../../src/strategy/index.ts';

/** Spends a total in equal slices. */
export default defineStrategy({
  name: 'twap',
  summary: 'Buys for a total in slices of the same size at equal intervals.',
  params: z.strictObject({
    buy: token(), total: amount(), slices: z.int().min(1).max(1_000), every: duration(), watch: amount(),
  }),
  inputs: (p) => ({ price: quotes({ base: p.buy, quote: p.total.token }, { amount: p.watch, every: '5s' }) }),
  run: (_inputs, p, ctx) => twap(ctx, { key: 'twap', total: p.total, slices: p.slices, every: p.every },
    (size, slice) => ctx.swap(p.total.token, p.buy, size, `slice ${slice + 1} of ${p.slices}`)),
});
