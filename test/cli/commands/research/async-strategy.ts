import { debounceTime, filter, interval, map, merge, mergeMap, NEVER, Observable } from 'rxjs';
import { z } from 'zod';
import type { AlertProposal } from '../../../../src/strategy/index.ts';
import { amount, defineStrategy, pair, quotes } from '../../../../src/strategy/index.ts';

/** Decides at every tenth price: in the engine's time, or when the machine gets to it. */
export default defineStrategy({
  name: 'async-strategy',
  summary: 'Does what no strategy should do, for tests.',
  params: z.strictObject({
    pair: pair(), size: amount(), by: z.enum(['event', 'promise', 'timer', 'debounce', 'interval']),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => {
    const decided = price.pipe(filter((_, n) => n % 10 === 0), map((quote) => ctx.alert('info', `at ${quote.price}`)));
    if (p.by === 'event') return decided;
    if (p.by === 'debounce') return decided.pipe(debounceTime(60_000));
    if (p.by === 'interval') return merge(decided.pipe(mergeMap(() => NEVER)), interval(60_000).pipe(map(() =>
      ctx.alert('info', 'a minute is over'))));
    return decided.pipe(mergeMap((alert) => (p.by === 'promise' ? Promise.resolve(alert)
      : new Observable<AlertProposal>((out) => { setTimeout(() => { out.next(alert); }, 0); }))));
  },
});
