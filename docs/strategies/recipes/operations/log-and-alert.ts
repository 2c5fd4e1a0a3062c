// Log and alert
//
// `ctx.log` writes a line to the log of the run: for you, later, and as often as you like. An alert is for people,
// now: it is a decision, is replayed, and goes wherever the configuration sends alerts. Emit it at a change, not at
// each event. `data` holds figures for programs. `console` is dropped in a run.
import { amount, defineStrategy, hysteresis, pair, quotes } from 'gannet';
import { map, tap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'log-and-alert',
  summary: 'Logs every price, and alerts when it leaves or enters the range above a level.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('the size whose price is watched'),
    level: z.number().positive().describe('the price at which to alert'),
    back: z.number().positive().describe('the price at which the range is left again, below the level'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price: quoted }, p, ctx) => quoted.pipe(
    tap(({ price, feeBps }) => { ctx.log(`${price.toFixed(2)} with a fee of ${feeBps} bps`); }),
    map(({ price }) => price),
    hysteresis(p.level, p.back),
    map((isAbove) => ctx.alert(isAbove ? 'warning' : 'info', isAbove ? 'above the level' : 'back below', {
      pair: `${p.pair.base.symbol}/${p.pair.quote.symbol}`, level: p.level,
    })),
  ),
});
