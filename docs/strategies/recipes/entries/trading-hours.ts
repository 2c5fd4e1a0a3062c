// Trade only at certain hours
//
// `ctx.now()` is the engine's time in milliseconds since 1970, in UTC. A replay and a backtest have the same. There
// are no time zones: convert the hours, and mind that daylight saving time shifts them. Sell at any hour, so that an
// exit never waits for the morning.
import { amount, defineStrategy, pair, quotes } from 'gannet';
import { EMPTY, filter, mergeMap, of } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'trading-hours',
  summary: 'Buys below a price between two hours of the day, and sells above another at any hour.',
  losesMoneyWhen: 'The price falls out of the range and stays there.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to buy below'),
    above: z.number().positive().describe('the price to sell above'),
    from: z.int().min(0).max(23).default(13).describe('the first hour, UTC'),
    to: z.int().min(1).max(24).default(20).describe('the hour at which it ends, UTC'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '30s' }) }),
  run: ({ price: quoted }, p, ctx) => quoted.pipe(
    filter(() => ctx.openIntents() === 0),
    mergeMap(({ price }) => {
      if (ctx.available(p.pair.base) > 0n) return price > p.above ? of(ctx.sell(p.pair, 'all', 'above')) : EMPTY;
      const hour = Math.floor(ctx.now() / 3_600_000) % 24;
      return price < p.below && hour >= p.from && hour < p.to ? of(ctx.buy(p.pair, p.size, 'below')) : EMPTY;
    }),
  ),
});
