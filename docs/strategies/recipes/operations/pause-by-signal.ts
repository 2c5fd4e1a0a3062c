// Pause by a signal
//
// Another program can pause the purchases, for example at the time of news. The pause is a state, so that it
// outlives a restart; sales go on. Other bodies change nothing. Each program that may send the signal can pause the
// strategy; `gannet halt` stops all trading, and is for people.
import { amount, defineStrategy, pair, quotes, signals } from 'gannet';
import type { SignalEvent } from 'gannet';
import { filter, ignoreElements, map, merge } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'pause-by-signal',
  summary: 'Trades between two prices, and buys nothing while another program says so.',
  losesMoneyWhen: 'The price falls out of the range and stays there.',
  params: z.strictObject({
    pair: pair(),
    size: amount().describe('what one purchase costs, in the quote token'),
    below: z.number().positive().describe('the price to buy below'),
    above: z.number().positive().describe('the price to sell above'),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '10s' }), news: signals('news') }),
  run: ({ price: quoted, news }, p, ctx) => {
    const isPaused = ctx.stateful('is-paused', false, (before, { body }: SignalEvent) =>
      (body === 'pause' ? true : body === 'go' ? false : before));
    const isHeld = (): boolean => ctx.available(p.pair.base) > 0n;
    return merge(
      news.pipe(isPaused, ignoreElements()),
      quoted.pipe(
        filter(({ price }) => (isHeld() ? price > p.above : price < p.below && !isPaused.value)),
        filter(() => ctx.openIntents() === 0),
        map(() => (isHeld() ? ctx.sell(p.pair, 'all', 'dear') : ctx.buy(p.pair, p.size, 'cheap'))),
      ),
    );
  },
});
