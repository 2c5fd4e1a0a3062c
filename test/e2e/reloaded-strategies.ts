import { join } from 'node:path';
import { PROJECT } from './gannet.ts';

// The text of strategies that tests reload while they run. Their memory is in a kept state or within their warm-up.

const [RXJS, ZOD] = [import.meta.resolve('rxjs'), import.meta.resolve('zod')];
const SDK = join(PROJECT, 'src', 'strategy', 'index.ts');

/** Counts prices in a kept state, and tells each count. */
export const COUNTER = `import { map, scan } from '${RXJS}';
import { z } from '${ZOD}';
import { amount, defineStrategy, duration, pair, quotes } from '${SDK}';
import { WORD } from './word.ts';

export default defineStrategy({
  name: 'counter', summary: 'Counts prices.',
  params: z.strictObject({ pair: pair(), size: amount(), every: duration('500ms'), step: z.number().positive() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => {
    const counted = ctx.stateful('count', { n: 0 }, (state) => ({ n: state.n + p.step }));
    return price.pipe(
      scan((last, quote) => [...last.slice(-2), quote.price], []), counted,
      map(({ state, event }) => ctx.alert('info', WORD + ' ' + state.n + ' of ' + event.length)),
    );
  },
});
`;

/**
 * Buys at each price that is its turn, unless it has a swap under way; tells the mean of the last five prices at each
 * tenth, and how its swaps ended. Without a turn it buys nothing.
 */
export const TRADER = `import { filter, map, merge, mergeMap, scan } from '${RXJS}';
import { z } from '${ZOD}';
import { amount, defineStrategy, duration, pair, quotes } from '${SDK}';

const isOver = (state) => ['confirmed', 'failed', 'expired', 'abandoned'].includes(state);

export default defineStrategy({
  name: 'trader', summary: 'Buys in turn.',
  params: z.strictObject({
    pair: pair(), size: amount(), every: duration(), turn: z.int().min(0), label: z.string(),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, p, ctx) => {
    const seen = ctx.stateful('seen', { prices: 0, ended: 0 }, (state, event) => (Array.isArray(event)
      ? { ...state, prices: state.prices + 1 } : { ...state, ended: state.ended + 1 }));
    return merge(
      ctx.outcomes$.pipe(filter(({ state }) => isOver(state)), seen,
        map(({ state, event }) => ctx.alert('info', event.intentId + ' ' + event.state + ', ' + state.ended))),
      price.pipe(
        scan((last, quote) => [...last.slice(-4), quote.price], []), seen,
        mergeMap(({ state: { prices, ended }, event: last }) => [
          ...(prices % 10 === 0 ? [ctx.alert('info', prices + ' prices, ' + ended + ' ended, mean '
            + (p.turn === 0 ? last.reduce((sum, one) => sum + one, 0) / last.length : '-'))] : []),
          ...(p.turn > 0 && prices % p.turn === 0 && ctx.openIntents() === 0
            ? [ctx.buy(p.pair, p.size, 'in turn')] : []),
        ]),
      ),
    );
  },
});
`;
