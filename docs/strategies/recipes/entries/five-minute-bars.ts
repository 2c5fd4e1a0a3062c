// Use an indicator on five-minute bars
//
// Indicators of quotes depend on the interval of the poll; those of bars do not. `bars` emits an interval once it is
// over, so the indicator never sees a bar that can still change. `over('close', …)` feeds one price of the bar to an
// indicator of numbers. After a start it is silent for as many bars as the indicator needs.
import { amount, bars, defineStrategy, indicate, over, pair, whenFlat } from 'gannet';
import { ROC } from 'gannet/indicators';
import { filter, map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'five-minute-bars',
  summary: 'Buys when the closes of five-minute bars have fallen by more than a share.',
  losesMoneyWhen: 'The fall goes on: the rate of change says how fast the price fell, and not where it stops.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    bars: z.int().min(1).default(3).describe('over how many bars the fall is measured'),
    fall: z.number().positive().default(0.02).describe('the least fall, as a fraction'),
  }),
  inputs: (p) => ({ bar: bars(p.pair, { every: '5m', poll: '10s', amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    indicate(over('close', () => new ROC(p.bars))),
    filter(({ value }) => value <= -p.fall),
    whenFlat(ctx, p.pair.base),
    map(({ value }) => ctx.buy(p.pair, p.size, `${(value * 100).toFixed(1)} % in ${p.bars} bars`)),
  ),
});
