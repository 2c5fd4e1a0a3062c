// Notice that a feed is silent
//
// A feed that fails emits nothing, and a strategy without events decides nothing. `debounceTime` emits after a
// silence, on the engine's clock. Use the operators of `gannet`: those of RxJS with the same names read the wall
// clock. `max_age` beside the budget refuses entries on old data; this recipe tells people.
import { amount, debounceTime, defineStrategy, duration, formatDuration, pair, parseDuration, quotes } from 'gannet';
import { map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'silent-feed',
  summary: 'Alerts when no price has arrived for a while.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('the size whose price is watched'),
    quiet: duration().default('2m').describe('how long a silence may be'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    debounceTime(ctx, p.quiet),
    map(({ at }) => ctx.alert('warning', `no price for ${formatDuration(parseDuration(p.quiet))}`, { last: at })),
  ),
});
