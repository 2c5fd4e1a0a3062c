// Sell after a day
//
// The time of the purchase must outlive a restart, so it is a state. `interval` asks every minute, whether or not a
// price arrives. A time that passed while the bot was down is seen at the first minute after it. Without code,
// `time_limit` of the [exits](../exits.md) does the same.
import { amount, defineStrategy, duration, interval, limitOrder, pair, parseDuration, quotes } from 'gannet';
import { filter, ignoreElements, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'time-limit',
  summary: 'Buys once at a limit, and sells the position when its time is over.',
  losesMoneyWhen: 'The price falls within the time, or was falling already.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    entry: z.number().positive().describe('the price at which to buy, or below'),
    hold: duration().default('1d').describe('how long to hold'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price }, p, ctx) => {
    const bought = ctx.stateful<number | null, number>('bought-at', null, (_before, now) => now);
    return merge(
      price.pipe(limitOrder(ctx, { key: 'entry', side: 'buy', price: p.entry }, () =>
        ctx.buy(p.pair, p.size, 'cheap'))),
      ctx.outcomes$.pipe(filter(({ fill }) => fill?.outputMint === p.pair.base.mint),
        map(() => ctx.now()), bought, ignoreElements()),
      interval(ctx, '1m').pipe(
        filter(() => ctx.now() - (bought.value ?? Infinity) >= parseDuration(p.hold)),
        filter(() => ctx.available(p.pair.base) > 0n),
        map(() => ctx.sell(p.pair, 'all', `held for ${p.hold}`)),
      ),
    );
  },
});
