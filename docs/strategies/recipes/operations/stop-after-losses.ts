// Stop buying after three losses
//
// A sale is a loss where it brings less than its purchase cost. `fills$` has both, and the state keeps them over
// restarts. A gain begins the count again. After the last loss the strategy goes on to sell, and says so once. Network
// fees are not in these amounts.
import { amount, defineStrategy, pair, quotes } from 'gannet';
import type { FilledSwap } from 'gannet';
import { distinctUntilChanged, EMPTY, filter, map, merge, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'stop-after-losses',
  summary: 'Buys below a price, sells at a gain or a loss, and buys no more after several losses in a row.',
  losesMoneyWhen: 'Each of the losses that it takes to stop is one.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to buy below'),
    most: z.int().min(1).default(3).describe('how many losses in a row'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price: quoted }, p, ctx) => {
    const count = ctx.stateful('losses', { paid: 0n, losses: 0 }, (before, { fill }: FilledSwap) => {
      if (fill.outputMint === p.pair.base.mint) return { ...before, paid: BigInt(fill.amountIn) };
      return { paid: 0n, losses: fill.amountOut < before.paid ? before.losses + 1 : 0 };
    });
    const trades = quoted.pipe(filter(() => ctx.openIntents() === 0), mergeMap(({ price }) => {
      const { available, gain = 0 } = ctx.position(p.pair.base);
      if (available === 0n && price < p.below && count.value.losses < p.most)
        return of(ctx.buy(p.pair, p.size, 'cheap'));
      return Math.abs(gain) < 0.05 ? EMPTY : of(ctx.sell(p.pair, 'all', `a gain of ${gain.toFixed(2)}`));
    }));
    const stop = ctx.fills$.pipe(count, map(({ state }) => state.losses), distinctUntilChanged(),
      filter((losses) => losses === p.most), map(() => ctx.alert('warning', 'buys no more')));
    return merge(trades, stop);
  },
});
