import { ignoreElements, map, merge, switchMap, take } from 'rxjs';
import { z } from 'zod';
import type { TokenAmount } from '../src/strategy/index.ts';
import {
  amount, defineStrategy, duration, fractionOf, pair, parseDuration, scheduled, twoSided,
} from '../src/strategy/index.ts';

/** Value averaging (Edleson 1988): the holdings are to be worth a sum that grows by the same step at each interval. */
export default defineStrategy({
  name: 'value-averaging',
  summary: 'Buys or sells at each interval what its holdings differ from a value that grows by a fixed step.',
  losesMoneyWhen: 'The price falls for long: each purchase is larger than the one before, up to the cap, and all of '
    + 'them lose. In a long rise its sales give up most of the gain.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"; the budget is in the quote token'),
    step: amount().describe('by how much the target value grows at each interval, in the quote token'),
    growth: z.number().min(0).max(1).default(0).describe('how much larger each step is than the last: 0.01 is 1 %'),
    cap: amount().describe('the most that one purchase costs: in a long fall the path asks for ever more'),
    sale: amount().describe('the size whose sale price values the holdings, in the base token'),
    sell: z.boolean().default(true).describe('whether it sells what is above the target'),
    minimum: amount().describe('a smaller difference is left to the next interval, in the quote token'),
    every: duration().default('1d').describe('the interval; it acts on its multiples since the epoch'),
    watch: duration().default('30s').describe('how often both prices are polled'),
  })
    .refine((p) => [p.step, p.cap, p.minimum].every(({ token }) => token.mint === p.pair.quote.mint), {
      path: ['step'], message: 'expected step, cap and minimum in the pair’s quote token',
    })
    .refine((p) => p.sale.token.mint === p.pair.base.mint, {
      path: ['sale'], message: 'expected an amount of the pair’s base token',
    }),
  inputs: (p) => ({ both: twoSided(p.pair, { buy: p.cap, sell: p.sale, every: p.watch }) }),
  run: ({ both }, p, ctx) => {
    // The path begins with the interval after the first price, and is the same after a restart.
    const everyMs = parseDuration(p.every);
    const first = ctx.stateful<number | null, number>('first-interval', null, (known, next) => known ?? next);
    const begun = both.pipe(map(() => Math.floor(ctx.now() / everyMs) + 1), first, ignoreElements());
    const orders = scheduled(ctx, { key: 'interval', every: p.every, missed: 'once' }, (run) => {
      const { value, amount: held, available } = ctx.position(p.pair.base);
      const number = run - (first.value ?? Infinity) + 1;
      if (value === undefined || number < 1 || ctx.openIntents() > 0) return undefined;
      const target = targetAt(number, p);
      const missing = target.amount - value;
      const text = `interval ${number}: the target is ${Number(target.amount) / 10 ** target.token.decimals}`;
      if (missing >= p.minimum.amount) {
        const free = ctx.available(p.pair.quote);
        const wanted = missing < p.cap.amount ? missing : p.cap.amount;
        const spend = wanted < free ? wanted : free;
        return spend < p.minimum.amount ? undefined
          : ctx.buy(p.pair, { token: p.pair.quote, amount: spend }, text);
      }
      if (!p.sell || -missing < p.minimum.amount) return undefined;
      const excess = held * -missing / value;
      return ctx.sell(p.pair, { token: p.pair.base, amount: excess < available ? excess : available }, text);
    });
    // Holdings have a value from the first price on, after a restart too.
    return merge(begun, both.pipe(take(1), switchMap(() => orders)));
  },
});

/** Returns the target value after a number of intervals: C t, or C ((1 + r)^t - 1) / r. */
function targetAt(
  number: number, { step, growth }: { readonly step: TokenAmount; readonly growth: number },
): TokenAmount {
  return growth === 0 ? { token: step.token, amount: step.amount * BigInt(number) }
    : fractionOf(step, ((1 + growth) ** number - 1) / growth);
}
