import { filter, map, merge, of, switchMap, take } from 'rxjs';
import { z } from 'zod';
import type { Amount } from '../src/strategy/index.ts';
import { amount, bps, defineStrategy, quotes, token } from '../src/strategy/index.ts';

/** The strategy of `gannet swap`: one swap, as soon as there is a price to compare it with. */
export default defineStrategy({
  name: 'swap-once',
  summary: 'Swaps once, as soon as there is a price.',
  params: z.strictObject({
    spend: amount().describe('what to pay'),
    buy: token().describe('what to get for it'),
    route: z.enum(['order', 'build']).default('order')
      .describe('order: assembled and landed by the service; build: composed here, landed through the RPC'),
    slippage_bps: z.int().min(0).max(10_000).optional().describe('the most slippage; left out, what the limits allow'),
    at_least: amount().optional().describe('the least to get for it; left out, what the slippage allows'),
  }).refine((p) => p.spend.token.mint !== p.buy.mint, {
    path: ['buy'], message: 'expected another token than the one that is spent',
  })
    .refine((p) => p.at_least === undefined || p.at_least.token.mint === p.buy.mint, {
      path: ['at_least'], message: 'expected an amount of the token that is bought',
    }),
  inputs: (p) => ({ price: quotes({ base: p.buy, quote: p.spend.token }, { amount: p.spend, every: '2s' }) }),
  run: ({ price }, p, ctx) => {
    // The safety check of the token is still to come, so the swap waits for it.
    const unvetted$ = ctx.denials$.pipe(filter(({ code }) => code === 'TOKEN_UNVETTED'));
    return merge(of(undefined), unvetted$).pipe(
      switchMap(() => price.pipe(take(1))),
      map(() => ctx.swap(p.spend.token, p.buy, p.spend, 'asked for by the operator', {
        route: p.route,
        key: 'once',
        ...(p.slippage_bps === undefined ? {} : { slippageBps: bps(p.slippage_bps) }),
        ...(p.at_least === undefined ? {} : { limit: p.at_least.amount as Amount }),
      })),
    );
  },
});
