// Make up for a run that was missed
//
// `scheduled` swaps at each interval of the clock, once for each run, over restarts too. `missed` says what happens
// to runs from the time when the bot was down: with `once`, one swap at the start stands for all. `skip` waits for
// the next run, and `catch-up` makes up for each.
import { amount, defineStrategy, pair, quotes, scheduled } from 'gannet';
import { z } from 'zod';

export default defineStrategy({
  name: 'missed-runs',
  summary: 'Buys at noon each day, and at the start where a noon was missed.',
  losesMoneyWhen: 'The price falls for longer than the purchases last.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '30s' }) }),
  run: (_inputs, p, ctx) => scheduled(
    ctx, { key: 'noon', every: '1d', offset: '12h', missed: 'once' },
    (day) => ctx.buy(p.pair, p.size, `day ${day}`),
  ),
});
