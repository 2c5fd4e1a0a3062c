// Keep a counter over restarts
//
// `ctx.stateful` folds events into a state that is saved with each swap and at least once a minute. Call it in `run`
// itself. `outcomes$` then emits the last outcome of each swap exactly once, those from the time when the bot was
// down included, so the count is right after a crash. A variable would begin at 0.
import { amount, defineStrategy, pair, quotes } from 'gannet';
import type { Outcome } from 'gannet';
import { filter, ignoreElements, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'counter',
  summary: 'Buys below a price a limited number of times in all, restarts included.',
  losesMoneyWhen: 'The price falls on after the last purchase.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
    most: z.int().min(1).default(3).describe('how many purchases in all'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1m' }) }),
  run: ({ price: quoted }, p, ctx) => {
    const bought = ctx.stateful('bought', 0, (count, { state }: Outcome) => count + (state === 'confirmed' ? 1 : 0));
    return merge(
      ctx.outcomes$.pipe(bought, ignoreElements()),
      quoted.pipe(
        filter(({ price }) => price < p.below && bought.value + ctx.openIntents() < p.most),
        map(() => ctx.buy(p.pair, p.size, `purchase ${bought.value + 1} of ${p.most}`)),
      ),
    );
  },
});
