import { EMPTY, map, merge, mergeMap, Observable, of } from 'rxjs';
import { z } from 'zod';
import type { PricedQuote, Proposal, StrategyContext } from '../../../src/strategy/index.ts';
import { amount, defineStrategy, duration, interval, pair, quotes } from '../../../src/strategy/index.ts';

// Attacks on time and memory, each at one place of a strategy. Each of them ends the strategy, which must be named with
// its reason, while its neighbours go on.

function forever(): never {
  for (let n = 0; ; n = (n + 1) % 7) if (n > 7) break;
  throw new Error('it ended');
}

function fill(): number {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => n + kept.length));
}

function fillOutside(): number {
  const kept: Buffer[] = [];
  for (;;) kept.push(Buffer.alloc(32 * 1_048_576, 1));
}

function deep(n: number): number {
  return n < 0 ? 0 : deep(n + 1) + 1;
}

function manyMicrotasks(): void {
  const again = (): void => { queueMicrotask(again); };
  again();
}

/** What is done with the second price. */
const NEXT: Readonly<Record<string, (ctx: StrategyContext) => unknown>> = {
  'loop-in-next': forever,
  'loop-in-a-getter': (ctx) => Object.defineProperty({ ...ctx.alert('info', 'x') }, 'message', {
    enumerable: true, get: forever,
  }),
  'loop-in-a-generator': () => [...(function* endless(): Generator<number> { for (;;) yield 1; })()].length,
  'regular-expression': () => /^(?:a+)+$/.test(`${'a'.repeat(60)}!`),
  'json-bomb': () => JSON.parse('['.repeat(50_000_000)) as unknown,
  'heap': fill,
  'memory-of-buffers': fillOutside,
  'text-doubled': () => {
    let text = 'x'.repeat(1_000);
    for (;;) text = Array.from(`${text}${text}`).join('');
  },
  'webassembly-memory': () => {
    const { Memory } = Reflect.get(globalThis, 'WebAssembly') as {
      readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
    };
    const kept: object[] = [];
    for (;;) {
      const memory = new Memory({ initial: 1_024, maximum: 65_536 });
      new Uint8Array(memory.buffer).fill(1);
      kept.push(memory);
    }
  },
  'stack': () => deep(1),
  'waiting': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  'microtasks-without-end': manyMicrotasks,
  'promise-rejected': () => { void Promise.reject(new Error('a rejection that nothing handles')); },
  'thrown-in-a-timer': () => { setTimeout(() => { throw new Error('thrown in a timer'); }, 0); },
  'thrown': () => { throw new Error('thrown in next'); },
  'thrown-symbol': () => { throw Symbol('thrown') as unknown as Error; },
  'thrown-with-a-getter': () => {
    throw Object.defineProperty(new Error('x'), 'message', { get: forever });
  },
  'timers-of-no-delay': () => {
    const again = (): void => { setTimeout(again, 0); };
    again();
  },
  'immediates': () => {
    const again = (): void => {
      for (const until = performance.now() + 50; performance.now() < until;);
      setImmediate(again);
    };
    again();
  },
  'clock-of-no-delay': (ctx) => {
    ctx.clock.schedule(function again() { this.schedule(undefined, 0); }, 0);
    return undefined;
  },
  'proposals-without-end': (ctx) => Array.from({ length: 100_000 }, (_, n) => ctx.alert('info', `alert ${n}`)),
  'log-without-end': (ctx) => {
    for (let n = 0; n < 100_000; n++) ctx.log(`line ${n}`);
    return undefined;
  },
  'timers-without-end': (ctx) => {
    for (let n = 0; n < 2_000_000; n++) ctx.clock.schedule(() => undefined, 60_000);
    return undefined;
  },
  'exit': () => process.exit(0),
  'exit-as-it-was': () => Reflect.apply(Reflect.get(process, 'reallyExit') as () => void, process, [0]),
  'late-proposal': (ctx) => new Observable((subscriber) => {
    setTimeout(() => { subscriber.next(ctx.alert('info', 'outside the engine’s time')); }, 5);
  }),
  'complete': () => EMPTY,
};

const paramsSchema = z.strictObject({
  pair: pair(), size: amount(), every: duration(), attacks: z.array(z.string()).length(1),
}).loose().refine(({ attacks: [attack] }) => attack !== 'loop-in-schema' || forever());

export default defineStrategy({
  name: 'hostile-bounds',
  summary: 'Uses up the time or the memory of its process.',
  params: paramsSchema,
  inputs: (p) => {
    if (p.attacks[0] === 'loop-in-inputs') forever();
    if (p.attacks[0] === 'thrown-in-inputs') throw new Error('thrown in inputs');
    return { price: quotes(p.pair, { amount: p.size, every: p.every }) };
  },
  run: ({ price }, { attacks: [attack = ''] }, ctx) => {
    const tries = `tries ${attack}`;
    if (attack === 'loop-in-run') forever();
    if (attack === 'thrown-in-run') throw new Error('thrown in run');
    if (attack === 'loop-in-a-timer') return merge(price.pipe(map(() => ctx.alert('info', tries))),
      interval(ctx, '700ms').pipe(map(() => forever())));
    if (attack === 'loop-at-the-end') return atTheEnd(price, ctx, tries);
    return price.pipe(mergeMap((_, index) => {
      if (index === 0) return of(ctx.alert('info', tries));
      if (index > 1) return of(ctx.alert('info', `tried ${attack}`));
      const made = (NEXT[attack] ?? missing)(ctx);
      return made instanceof Observable ? made as Observable<Proposal>
        : Array.isArray(made) ? made as Proposal[] : made === undefined ? EMPTY : of(made as Proposal);
    }));
  },
});

function missing(): never {
  throw new Error('there is no such attack');
}

/** Loops when it is unsubscribed. */
function atTheEnd(price: Observable<PricedQuote>, ctx: StrategyContext, tries: string): Observable<Proposal> {
  return new Observable((subscriber) => {
    const inner = price.subscribe(() => { subscriber.next(ctx.alert('info', tries)); });
    return () => {
      inner.unsubscribe();
      forever();
    };
  });
}
