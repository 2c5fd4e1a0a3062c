// Keep an indicator over restarts without a recording
//
// `keep` saves the last inputs of an indicator with the state of the strategy. After a restart the results are those
// of a run without it, bit for bit, and no recording is needed. It saves at each element, so use it for bars and
// slow quotes. What happened while the bot was down is missing.
import { amount, bars, defineStrategy, indicate, over, pair } from 'gannet';
import { EMA } from 'gannet/indicators';
import { distinctUntilChanged, map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'kept-indicator',
  summary: 'Alerts when the close of a bar comes to stand on the other side of its average.',
  losesMoneyWhen: 'It never trades. Who trades on its alerts loses in a market without a trend.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('the size whose price is watched'),
    bars: z.int().min(2).default(20).describe('the length of the average'),
  }),
  inputs: (p) => ({ bar: bars(p.pair, { every: '1m', poll: '10s', amount: p.size }) }),
  run: ({ bar }, p, ctx) => bar.pipe(
    indicate(over('close', () => new EMA(p.bars)), { keep: { context: ctx, name: 'closes', inputs: 7 * p.bars } }),
    map(({ input, value }) => (input.close > value ? 'above' : 'below')), distinctUntilChanged(),
    map((side) => ctx.alert('info', `the close is ${side} its average`)),
  ),
});
