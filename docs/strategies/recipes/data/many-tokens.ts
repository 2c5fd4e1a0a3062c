// Run one rule over many tokens
//
// `inputs` may follow from the parameters: here one price for each pair, by the name of the token. Each pair has
// streams of its own, so the rule needs no table of states. Requests grow with the list; `config check` shows how
// many.
import { amount, bollinger, defineStrategy, pair, quotes } from 'gannet';
import { filter, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'many-tokens',
  summary: 'Alerts at each of several tokens whose price leaves its band.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts loses where a band breaks for good.',
  params: z.strictObject({
    pairs: z.array(pair()).min(1).max(20).describe('what to watch'),
    size: amount().describe('the size whose prices are watched, in the quote token'),
    window: z.int().min(2).default(20).describe('how many prices make a band'),
  }),
  inputs: (p) => Object.fromEntries(p.pairs.map((one) =>
    [one.base.symbol, quotes(one, { amount: p.size, every: '10s' })])),
  run: (prices, p, ctx) => merge(...Object.entries(prices).map(([symbol, price]) => price.pipe(
    bollinger(p.window, 2),
    filter(({ z: deviation }) => Math.abs(deviation) > 2),
    map(({ quote }) => ctx.alert('info', `${symbol} leaves its band at ${quote.price.toPrecision(4)}`)),
  ))),
});
