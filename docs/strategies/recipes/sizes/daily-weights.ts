// Rebalance once a day
//
// `targetWeights` returns the swaps back to the weights, sales first, and none while a swap is under way. So a
// rebalance takes several events. `slots` begins one each day, and each price continues it until nothing is off its
// weight. A start in the middle of a day begins one at once.
import { amount, defineStrategy, duration, pair, quotes, slots, targetWeights } from 'gannet';
import { map, mergeMap, switchMap, takeWhile } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'daily-weights',
  summary: 'Brings a token back to its share of the equity once a day.',
  losesMoneyWhen: 'The token falls steadily, because each day buys more of it.',
  params: z.strictObject({
    pair: pair(),
    sale: amount().describe('the size whose price is watched, in the base token'),
    weight: z.number().gt(0).lt(1).default(0.5).describe('the share of the equity'),
    minimum: amount().describe('the least value of a swap, in the token of the budget'),
    at: duration().default('14h').describe('when in the day, after midnight UTC'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.sale, every: '30s' }) }),
  run: ({ price }, p, ctx) => slots(ctx, { every: '1d', offset: p.at }).pipe(
    switchMap(() => price.pipe(
      map(() => targetWeights(ctx, [{ token: p.pair.base, weight: p.weight }],
        { band: 0.01, minimum: p.minimum, reason: 'daily' })),
      takeWhile((swaps) => swaps.length > 0 || ctx.openIntents() > 0 || ctx.equity() === undefined),
    )),
    mergeMap((swaps) => swaps),
  ),
});
