import { filter, ignoreElements, map, merge, shareReplay, skip, switchMap, take } from 'rxjs';
import { z } from 'zod';
import type { SwapProposal, TokenAmount } from '../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, instant, oncePerSlot, quotes, sliceOf, slots, slotStart, timeOfDay, token,
} from '../src/strategy/index.ts';

const PARAMS = z.strictObject({
  buy: token().describe('what to buy'),
  spend: amount().optional().describe('what each purchase costs; left out, its part of total'),
  total: amount().optional()
    .describe('what all purchases cost together, in equal parts, to the smallest unit'),
  every: duration().describe('the interval; purchases fall on its multiples since the epoch'),
  offset: duration().optional().describe('shifts the purchases within the interval'),
  begin: z.enum(['now', 'next']).default('now').describe(
    'the first purchase after a start. now: at once, for the interval under way; next: when the next interval begins',
  ),
  purchases: z.int().min(1).optional()
    .describe('how many purchases to make in all, restarts included; left out, until the budget is spent'),
  start: instant().optional().describe('purchases due before this time are left out'),
  min_price: z.number().positive().optional()
    .describe('a purchase is left out while one token costs less, in the token that is spent'),
  max_price: z.number().positive().optional().describe('a purchase is left out while one token costs more'),
  route: z.enum(['order', 'build']).default('order')
    .describe('order: assembled and landed by the service; build: composed here, landed through the RPC'),
  watch: duration().default('30s')
    .describe('how often its price is polled; the price values holdings and fills swaps of a backtest'),
});

/** Returns the size of a purchase, numbered from 0. The last one is the largest. */
function sizeOf({ spend, total, purchases = 1 }: z.output<typeof PARAMS>, number: number): TokenAmount {
  return spend ?? sliceOf(total!, number, purchases);
}

/** Dollar-cost averaging: the same amount at every interval, whatever the price. */
export default defineStrategy({
  name: 'dca',
  summary: 'Buys a token for a fixed amount at a fixed interval.',
  losesMoneyWhen: 'The price falls and stays below the average of the purchases. Small purchases at short intervals '
    + 'also lose their fixed fees.',
  params: PARAMS
    .refine((p) => (p.spend ?? p.total)?.token.mint !== p.buy.mint, {
      path: ['buy'], message: 'expected another token than the one that is spent',
    })
    .refine((p) => (p.spend === undefined) !== (p.total === undefined), {
      path: ['spend'], message: 'expected either spend, for each purchase, or total, for all of them',
    })
    .refine((p) => p.total === undefined || p.purchases !== undefined, {
      path: ['purchases'], message: 'expected the number of purchases that share the total',
    }),
  inputs: (p) => {
    const size = sizeOf(p, (p.purchases ?? 1) - 1);
    return { price: quotes({ base: p.buy, quote: size.token }, { amount: size, every: p.watch }) };
  },
  run: ({ price }, p, ctx) => {
    const made = ctx.stateful('purchases', 0, (count: number, _filled: unknown) => count + 1);
    const done = ctx.fills$.pipe(
      filter(({ fill }) => fill.outputMint === p.buy.mint), made, filter(({ state }) => state === p.purchases),
      map(({ state }) => ctx.alert('info', `all ${state} purchases are made`)),
    );
    const purchase = (slot: number): SwapProposal | undefined => {
      const number = made.value + ctx.openIntents();
      if (p.purchases !== undefined && number >= p.purchases) return undefined;
      const size = sizeOf(p, number);
      const due = timeOfDay(slotStart(slot, p));
      return ctx.swap(size.token, p.buy, size, `purchase due at ${due}, every ${p.every}`, { route: p.route });
    };
    const due = slots(ctx, p).pipe(
      skip(p.begin === 'next' ? 1 : 0), filter((slot) => slotStart(slot, p) >= (p.start ?? -Infinity)),
    );
    // A limit is compared with the latest price, at the start with the first one.
    const latest = price.pipe(map((quote) => quote.price), shareReplay({ bufferSize: 1, refCount: true }));
    const isInRange = (now: number): boolean => now >= (p.min_price ?? 0) && now <= (p.max_price ?? Infinity);
    const allowed = p.min_price === undefined && p.max_price === undefined ? due
      : due.pipe(switchMap((slot) => latest.pipe(take(1), filter(isInRange), map(() => slot))));
    return merge(latest.pipe(ignoreElements()), done, allowed.pipe(oncePerSlot(ctx, 'slot', purchase)));
  },
});
