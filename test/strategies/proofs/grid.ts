import { ignoreElements, map, merge, mergeMap, tap } from 'rxjs';
import { z } from 'zod';
import type { Outcome } from '../../../src/strategy/index.ts';
import { amount, defineStrategy, duration, pair, quotes } from '../../../src/strategy/index.ts';

/** A grid whose levels all wait at the same time; each lot is sold one step up, then bought again. */
export default defineStrategy({
  name: 'grid',
  summary: 'Buys at levels below the first price, and sells each lot one step up.',
  params: z.strictObject({
    pair: pair(), lot: amount(), levels: z.int().min(1).max(50).default(5), every: duration().default('5s'),
    step: z.number().gt(0).lt(0.5).default(0.01),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.lot, every: p.every }) }),
  run: ({ price }, p, ctx) => {
    const proposed = new Set<string | undefined>();
    const first = ctx.stateful('first-price', 0, (known, now: number) => (known === 0 ? now : known));
    const lots = ctx.stateful('lots', Array.from({ length: p.levels }, () => ({ round: 0, held: 0n })),
      (known, { tag, state, fill }: Outcome) => known.map((lot, level) => {
        if (tag !== String(level)) return lot;
        if (fill !== undefined) return { round: lot.round + 1, held: lot.held > 0n ? 0n : fill.amountOut };
        return state === 'failed' || state === 'expired' ? { ...lot, round: lot.round + 1 } : lot;
      }));
    const ended = merge(ctx.denials$, ctx.outcomes$.pipe(lots, map(({ event }) => event))).pipe(
      tap((end) => { if ('proposal' in end || end.state === 'abandoned') proposed.delete(end.key); }),
      ignoreElements(),
    );
    return merge(ended, price.pipe(map((quote) => quote.price), first, mergeMap(({ state: base, event: now }) =>
      lots.value.flatMap(({ round, held }, level) => {
        const at = base * (1 - p.step) ** (level + 1);
        const key = `${level}-${round}`;
        if (proposed.has(key) || (held > 0n ? now < at * (1 + p.step) : now > at)) return [];
        proposed.add(key);
        const options = { key, tag: String(level), retry: { until: '10m', every: '5s' } };
        return [held > 0n ? ctx.sell(p.pair, { token: p.pair.base, amount: held }, `level ${level + 1}`, options)
          : ctx.buy(p.pair, p.lot, `level ${level + 1}`, options)];
      }))));
  },
});
