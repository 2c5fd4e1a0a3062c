// Try a failed swap again, but not for ever
//
// A swap that failed on the chain, or expired, has used its key. The next attempt needs another key. The number of
// attempts is a state, so that restarts do not begin again. An `unknown` outcome is no failure: the swap may have
// landed, so wait for its end.
import { amount, cooldown, defineStrategy, pair, quotes, whenFlat } from 'gannet';
import type { Outcome } from 'gannet';
import { filter, map, merge, take } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'failed-again',
  summary: 'Buys once, with a limited number of attempts and an alert after the last one.',
  losesMoneyWhen: 'The price falls after the purchase; and each failed attempt costs a network fee.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    attempts: z.int().min(1).default(3).describe('how many attempts in all'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price }, p, ctx) => {
    const failures = ctx.stateful('failures', 0, (count, { state }: Outcome) =>
      (state === 'failed' || state === 'expired' ? count + 1 : count));
    return merge(
      price.pipe(
        filter(() => failures.value < p.attempts),
        whenFlat(ctx, p.pair.base),
        cooldown(ctx, '30s'),
        map(() => ctx.buy(p.pair, p.size, `attempt ${failures.value + 1}`, { key: `attempt-${failures.value + 1}` })),
      ),
      ctx.outcomes$.pipe(failures, filter(({ state }) => state >= p.attempts), take(1),
        map(({ event: { code = 'no code' } }) => ctx.alert('critical', `gave up: ${code}`))),
    );
  },
});
