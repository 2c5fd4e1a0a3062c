import { existsSync } from 'node:fs';
import { EMPTY, mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { kept } from './kept-state.ts';
import { amount, defineStrategy, pair, quotes } from '../../../src/strategy/index.ts';

/** Outlives a run where modules are shared between runs. */
let runs = 0;
/** Outlives every run of a thread. */
const everywhere = globalThis as { runsOfUnruly?: number };

/** Buys every so many prices, and behaves as it is told. */
export default defineStrategy({
  name: 'unruly',
  summary: 'Does what no strategy should do, for tests.',
  params: z.strictObject({
    pair: pair(),
    size: amount(),
    every_nth: z.int().min(1).default(10),
    /** Until there is such a file, 'held' stays in the fifth run of a thread; once there is, 'shut' throws. */
    gate: z.string().default(''),
    mode: z.enum([
      'fine', 'throw', 'late', 'loop', 'exit', 'held', 'shut', 'remember', 'remember-globally', 'bad-schema', 'talk',
      'loose',
    ]).default('fine').transform((mode) => {
      if (mode === 'bad-schema') throw new Error('a schema that fails');
      return mode;
    }),
  }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }, p, ctx) => {
    runs += 1;
    kept.runs += 1;
    if (p.mode === 'remember-globally' || p.mode === 'held')
      everywhere.runsOfUnruly = (everywhere.runsOfUnruly ?? 0) + 1;
    const after = p.mode === 'remember' ? runs + kept.runs
      : p.mode === 'remember-globally' ? everywhere.runsOfUnruly ?? 0 : 0;
    let seen = 0;
    if (p.mode === 'talk') {
      globalThis.console.log('a word on standard output');
      globalThis.process.stdout.write('and another\n');
    }
    if (p.mode === 'loose') price.subscribe(() => { throw new Error('a late error'); });
    if (p.mode === 'late') setTimeout(() => { throw new Error('too late'); }, 0);
    if (p.mode === 'held' && (everywhere.runsOfUnruly ?? 0) > 4)
      while (!existsSync(p.gate)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return price.pipe(mergeMap(() => {
      seen += 1;
      if (seen === 20 && p.mode === 'throw') throw new Error('it fell over');
      if (seen === 20 && p.mode === 'shut' && existsSync(p.gate)) throw new Error('the gate is shut');
      if (seen === 20 && p.mode === 'exit') process.exit(3);
      for (;;) if (seen !== 20 || p.mode !== 'loop') break;
      if (ctx.openIntents() > 0) return EMPTY;
      if (seen % p.every_nth === 0) return of(ctx.buy(p.pair, p.size, `price ${seen + after}`));
      return seen % p.every_nth === Math.floor(p.every_nth / 2) && ctx.available(p.pair.base) > 0n
        ? of(ctx.sell(p.pair, 'all', 'half way')) : EMPTY;
    }));
  },
});
