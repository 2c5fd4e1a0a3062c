// Sell all when the equity falls below a floor
//
// `portfolio()` emits when amounts, costs, values or the equity change, and needs no request. Equity is the budget
// with all results, and undefined without a fresh price of each holding. The protections of [risk](../risk.md) can
// stop entries at a drawdown for all strategies; this exit is for one strategy with a floor of its own.
import { amount, defineStrategy, limitOrder, pair, portfolio, quotes, when } from 'gannet';
import { merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'equity-floor',
  summary: 'Buys once at a limit, and sells everything once the equity is below a floor.',
  losesMoneyWhen: 'The price falls to the floor and turns there.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    entry: z.number().positive().describe('the price at which to buy, or below'),
    floor: amount().describe('the least equity, in the token of the budget'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }), own: portfolio() }),
  run: ({ price, own }, p, ctx) => merge(
    price.pipe(limitOrder(ctx, { key: 'entry', side: 'buy', price: p.entry }, () => ctx.buy(p.pair, p.size, 'cheap'))),
    own.pipe(when(ctx, 'exit', ({ equity }) => equity !== undefined && equity < p.floor.amount
      && ctx.available(p.pair.base) > 0n, () => ctx.sell(p.pair, 'all', 'the equity is below the floor'))),
  ),
});
