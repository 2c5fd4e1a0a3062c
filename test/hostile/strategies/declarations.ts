import { EMPTY } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, duration, pair, quotes } from '../../../src/strategy/index.ts';

// Attacks by what a strategy declares: its inputs, its schema and its texts. The configuration must refuse each of
// them, or take it as a bounded declaration.

const ESCAPES = '\u001b[2J\u001b]0;hostile\u0007\u202e';

/** Returns a schema that describes itself without end. */
function endless(): z.ZodType {
  const schema: z.ZodType = z.lazy(() => z.object({ again: endless() }));
  return schema;
}

const declared = z.object({
  pair: pair(), size: amount(), every: duration(), attacks: z.array(z.string()).length(1),
  recursive: endless().optional(),
}).loose().superRefine(({ attacks: [attack] }, context) => {
  if (attack === 'issues-without-end')
    for (let n = 0; n < 200_000; n++) context.addIssue({ code: 'custom', message: `issue ${n}`, path: [String(n)] });
  if (attack === 'issue-with-escapes')
    context.addIssue({ code: 'custom', message: `${ESCAPES}\nissue`, path: [ESCAPES] });
});

export default defineStrategy({
  name: 'hostile-declarations',
  summary: `${ESCAPES} declares more than it should`,
  params: declared,
  inputs: (p) => {
    const price = quotes(p.pair, { amount: p.size, every: p.every });
    const [attack] = p.attacks;
    const change = (spec: object): object => ({ price: { ...price, spec: { ...price.spec, ...spec } } });
    switch (attack) {
      case 'inputs-without-end':
        return Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`price${n}`, price]));
      case 'input-of-no-interval': return change({ everyMs: 0 }) as { price: typeof price };
      case 'input-of-a-nan-interval': return change({ everyMs: Number.NaN }) as { price: typeof price };
      case 'input-of-a-negative-weight': return change({ weight: -1 }) as { price: typeof price };
      case 'input-of-a-huge-weight': return change({ weight: 1e300 }) as { price: typeof price };
      case 'input-of-an-unknown-kind': return change({ kind: '../../journal' }) as { price: typeof price };
      case 'input-of-a-prototype': return JSON.parse('{"__proto__": {"spec": {}}}') as { price: typeof price };
      case 'input-with-a-getter':
        return { get price(): typeof price { throw new Error('a getter of the inputs'); } };
      case undefined: default: return { price };
    }
  },
  run: () => EMPTY,
});
