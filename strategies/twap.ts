import { filter, ignoreElements, map, merge, switchMap, take, tap } from 'rxjs';
import { z } from 'zod';
import type { Outcome } from '../src/strategy/index.ts';
import { amount, defineStrategy, duration, parseDuration, quotes, token, twap } from '../src/strategy/index.ts';

/** Time-weighted average price: a total in equal slices at equal intervals, so that no single price decides. */
export default defineStrategy({
  name: 'twap',
  summary: 'Spends a total in equal slices over a duration, so that the average price of that time is paid.',
  losesMoneyWhen: 'The price moves against it while it waits, which one swap at the start would have avoided. Each '
    + 'slice pays its own fixed fees, so small slices cost more than the impact of one large swap.',
  params: z.strictObject({
    buy: token().describe('what to buy'),
    total: amount().describe('what all slices together cost'),
    duration: duration().describe('from the first slice to the last one'),
    every: duration().describe('the interval; there are duration / every + 1 slices'),
    jitter: z.number().min(0).max(1).default(0.2)
      .describe('delays each slice by a random part of the interval, at most this one, so that it cannot be foreseen'),
    price_limit: z.number().positive().optional()
      .describe('a slice is left out, and not made up for, while one token costs more; left out, at any price'),
    watch: duration().default('10s').describe('how often the price is polled'),
  })
    .refine((p) => p.total.token.mint !== p.buy.mint, {
      path: ['buy'], message: 'expected another token than the one that is spent',
    })
    .refine((p) => parseDuration(p.every) <= parseDuration(p.duration), {
      path: ['every'], message: 'expected at most the duration',
    }),
  // The price of the largest slice: slices differ by at most a smallest unit.
  inputs: (p) => ({ price: quotes({ base: p.buy, quote: p.total.token }, {
    amount: { token: p.total.token, amount: (p.total.amount + BigInt(slicesOf(p) - 1)) / BigInt(slicesOf(p)) },
    every: p.watch,
  }) }),
  run: ({ price }, p, ctx) => {
    const slices = slicesOf(p);
    let latest = Infinity;
    const filled = ctx.stateful('filled', { slices: 0, spent: 0n, bought: 0n }, (sum, { key, fill }: Outcome) => (
      key === undefined || fill === undefined ? sum
        : { slices: sum.slices + 1, spent: sum.spent + fill.amountIn, bought: sum.bought + fill.amountOut }));
    const sliced = twap(ctx, { key: 'twap', total: p.total, slices, every: p.every, jitter: p.jitter },
      (size, slice) => (latest > (p.price_limit ?? Infinity) ? undefined
        : ctx.swap(p.total.token, p.buy, size, `slice ${slice + 1} of ${slices}`)));
    const done = ctx.outcomes$.pipe(
      filled,
      filter(({ state, event }) => event.state === 'confirmed' && state.slices === slices),
      map(({ state: { spent, bought } }) => {
        const average = Number(spent) / Number(bought) * 10 ** (p.buy.decimals - p.total.token.decimals);
        return ctx.alert('info', `all ${slices} slices are filled at ${average.toPrecision(6)} on average`);
      }),
    );
    // The first price begins the first slice, so that a limit is known for each.
    const known = price.pipe(tap((quote) => { latest = quote.price; }), ignoreElements());
    return merge(done, known, price.pipe(take(1), switchMap(() => sliced)));
  },
});

function slicesOf({ duration: span, every }: { readonly duration: string; readonly every: string }): number {
  return Math.floor(parseDuration(span) / parseDuration(every)) + 1;
}
