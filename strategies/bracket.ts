import { filter } from 'rxjs';
import { z } from 'zod';
import { amount, bracketOrder, defineStrategy, duration, pair, quotes } from '../src/strategy/index.ts';

/** An entry with its exits: stop loss, take profit and time limit, of which the first cancels the others. */
export default defineStrategy({
  name: 'bracket',
  summary: 'Buys once, and sells all at a gain, at a loss or after a time, whichever comes first.',
  losesMoneyWhen: 'The price falls to the stop before it rises to the target; in a gap the stop sells at the first '
    + 'price after it, far below. Barriers closer than the costs of a round trip lose at either end.',
  params: z.strictObject({
    pair: pair().describe('what to trade, "SOL/USDC"'),
    size: amount().describe('what the purchase costs, in the quote token'),
    sale: amount().describe('about what is bought, in the base token: the size whose sale price is watched'),
    take_profit: z.number().gt(0).default(0.1).describe('the gain at which it sells, of the cost: 0.1 is 10 %'),
    stop_loss: z.number().gt(0).lt(1).default(0.05).describe('the loss at which it sells, of the cost: 0.05 is 5 %'),
    time_limit: duration().optional().describe('how long it holds at most; left out, for any time'),
    enter_below: z.number().positive().optional()
      .describe('buys when one token brings at most this; left out, at the first price'),
    every: duration().default('5s').describe('how often the price is polled'),
  })
    .refine((p) => p.size.token.mint === p.pair.quote.mint, {
      path: ['size'], message: 'expected an amount of the pair’s quote token',
    })
    .refine((p) => p.sale.token.mint === p.pair.base.mint, {
      path: ['sale'], message: 'expected an amount of the pair’s base token',
    }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.sale, every: p.every }) }),
  run: ({ price }, p, ctx) => price.pipe(
    filter((quote) => ctx.position(p.pair.base).amount > 0n || quote.price <= (p.enter_below ?? Infinity)),
    bracketOrder(ctx, {
      key: 'bracket', token: p.pair.base, takeProfit: p.take_profit, stopLoss: p.stop_loss, timeLimit: p.time_limit,
      enter: () => ctx.buy(p.pair, p.size, 'the entry'),
      leave: (reason) => ctx.sell(p.pair, 'all', reason),
    }),
  ),
});
