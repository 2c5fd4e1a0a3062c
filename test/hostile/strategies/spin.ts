import { map } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, duration, pair, quotes } from '../../../src/strategy/index.ts';

// Loops with the second price, in a file whose text the check of strategies has nothing against.

export default defineStrategy({
  name: 'hostile-spin',
  summary: 'Never ends its second price.',
  params: z.object({ pair: pair(), size: amount(), every: duration() }).loose(),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: p.every }) }),
  run: ({ price }, _params, ctx) => price.pipe(map((_quote, index) => {
    if (index === 1) for (let n = 0; n < 1;) n *= 2;
    return ctx.alert('info', 'tries spin');
  })),
});
