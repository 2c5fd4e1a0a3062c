// Spend at most so much a day
//
// The sum of the day is a state, so a restart does not begin a new day. Only fills count: a swap that failed spent
// nothing. Nothing is proposed while a swap is under way, because its amount is not in the sum yet. The reducer gets
// the day with the amount, and never asks the clock itself.
import { amount, defineStrategy, formatTokenAmount, pair, quotes } from 'gannet';
import { filter, ignoreElements, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'daily-spending',
  summary: 'Buys whenever the price is below a level, up to a sum for each day in UTC.',
  losesMoneyWhen: 'The price falls for many days, and each day buys more.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    per_day: amount().describe('the most to spend in a day, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1m' }) }),
  run: ({ price: quoted }, p, ctx) => {
    const today = (): number => Math.floor(ctx.now() / 86_400_000);
    const spent = ctx.stateful('spent', { day: 0, sum: 0n }, (before, { day, sum }: { day: number; sum: bigint }) =>
      ({ day, sum: before.day === day ? before.sum + sum : sum }));
    const left = (): bigint => p.per_day.amount - (spent.value.day === today() ? spent.value.sum : 0n);
    return merge(
      ctx.fills$.pipe(filter(({ fill }) => fill.inputMint === p.pair.quote.mint),
        map(({ fill }) => ({ day: today(), sum: BigInt(fill.amountIn) })), spent, ignoreElements()),
      quoted.pipe(
        filter(({ price }) => price < p.below && ctx.openIntents() === 0 && left() >= p.size.amount),
        map(() => ctx.buy(p.pair, p.size, `${formatTokenAmount({ ...p.size, amount: left() })} are left today`)),
      ),
    );
  },
});
