import { from, merge, mergeMap } from 'rxjs';
import { z } from 'zod';
import {
  amount, defineStrategy, duration, interval, quotes, targetWeights, token,
} from '../../../src/strategy/index.ts';

/** Holds three tokens at target weights; the rest stays in the budget's token. */
export default defineStrategy({
  name: 'rebalance',
  summary: 'Trades three tokens back to their weights where one is off by more than a band.',
  params: z.strictObject({
    cash: token(), minimum: amount(), band: z.number().gt(0).lt(1).default(0.05), every: duration().default('30s'),
    targets: z.array(z.strictObject({ token: token(), size: amount(), weight: z.number().min(0).max(1) })).length(3),
  }),
  // Sales of at least what is swapped: a backtest abandons an entry above the largest quoted size.
  inputs: (p) => Object.fromEntries(p.targets.map(({ token: base, size }) =>
    [base.symbol, quotes({ base, quote: p.cash }, { amount: size, every: p.every })])),
  run: (prices, p, ctx) => merge(...Object.values(prices), interval(ctx, p.every)).pipe(
    mergeMap(() => from(targetWeights(ctx, p.targets, { band: p.band, minimum: p.minimum, reason: 'rebalance' }))),
  ),
});
