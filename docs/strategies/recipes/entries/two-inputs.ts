// Combine two inputs
//
// One input decides the moment, here the price; the other answers a question about it. `withLatestFrom` takes the
// latest event of the other input, and emits nothing before there is one. `combineLatest` would decide at the events
// of both. The other event may be old, for example while its feed fails: compare the times.
import { amount, defineStrategy, pair, parseDuration, quotes, tokenStats, when } from 'gannet';
import { withLatestFrom } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'two-inputs',
  summary: 'Buys once below a price, if more is bought than sold and this is known for sure.',
  losesMoneyWhen: 'Those who sell have more to sell than the last five minutes show.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what the purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to be below'),
  }),
  inputs: (p) => ({
    price: quotes(p.pair, { amount: p.size, every: '5s' }), stats: tokenStats(p.pair.base, { every: '30s' }),
  }),
  run: ({ price, stats }, p, ctx) => price.pipe(
    withLatestFrom(stats),
    when(ctx, 'entry', ([quote, { receivedAt, values }]) => quote.price < p.below
      && quote.at - receivedAt < parseDuration('2m')
      && (values['5m.buyVolume'] ?? 0) > (values['5m.sellVolume'] ?? Infinity),
    ([quote]) => ctx.buy(p.pair, p.size, `${quote.price.toFixed(2)}, and more is bought than sold`)),
  ),
});
