import { EMPTY, filter, ignoreElements, map, merge, mergeMap, Observable, Subject, take, tap, timer } from 'rxjs';
import { z } from 'zod';
import type { Proposal } from '../../../src/strategy/index.ts';
import { amount, defineStrategy, formatTokenAmount, interval, pair, quotes } from '../../../src/strategy/index.ts';

const held: unknown[] = [];
const later = new Subject<Proposal>();

function again(): void {
  queueMicrotask(again);
}

function deeper(): number {
  return deeper() + 1;
}

/** What the strategy does at an event instead of answering it. */
const DEEDS: Readonly<Record<string, (count: number) => void>> = {
  loop: () => { for (;;); },
  expression: () => { /^(?:a+)+$/.test(`${'a'.repeat(60)}b`); },
  heap: () => { for (;;) held.push(Array<number>(10_000).fill(held.length)); },
  buffers: () => { for (;;) held.push(Buffer.alloc(1_000_000, 1)); },
  exit: () => { process.exit(7); },
  'exit, caught': () => {
    try {
      process.exit(7);
    } catch {
      held.push('it goes on');
    }
  },
  rejection: () => { void Promise.reject(new Error('no handler')); },
  microtasks: again,
  'machine timer': () => { setTimeout(() => undefined, 0); },
  'rxjs timer': () => { timer(5).subscribe(); },
  'error without a receiver': () => {
    new Observable(() => { throw new Error('no receiver'); }).subscribe();
  },
  promise: () => {
    void Promise.resolve().then(() => { later.next({ kind: 'alert', level: 'info', message: 'late' }); });
  },
  throw: () => { throw new Error('a fault of its own'); },
  recursion: () => { held.push(deeper()); },
  nothing: () => undefined,
};

/** Does one of the deeds at an event; at others, it tells how many there were. */
export default defineStrategy({
  name: 'misbehaving',
  summary: 'Does what a strategy must not do.',
  params: z.strictObject({ deed: z.string(), at: z.int().default(2), pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1s' }) }),
  run: ({ price }, p, context) => {
    let count = 0;
    const told = price.pipe(
      tap(() => {
        count += 1;
        if (count === p.at) DEEDS[p.deed]?.(count);
        if (count === p.at && p.deed === 'log lines') for (let i = 0; i < 6_000; i++) context.log(`${i}`);
        if (count === p.at && p.deed === 'questions') for (let i = 0; i < 20_000; i++) context.openIntents();
      }),
      map(() => context.alert('info', `${count} events, ${context.available(p.size.token)} left, `
        + `${context.openIntents()} open, ${context.now()}`)),
    );
    const holdings = p.deed !== 'holdings' ? EMPTY : price.pipe(map(() => {
      const budget = context.budget();
      const { available, entryPrice, salePrice, result } = context.position(p.pair.base);
      return context.alert('info', `${available} held, bought at ${entryPrice}, sold at ${salePrice}, `
        + `${result} gained, `
        + `${context.equity()} of ${budget === undefined ? 'nothing' : formatTokenAmount(budget)}`);
    }));
    const timers = p.deed === 'timers'
      ? merge(...Array.from({ length: 11_000 }, () => interval(context, '1h'))).pipe(ignoreElements()) : EMPTY;
    const large = price.pipe(
      filter(() => count === p.at && p.deed === 'a large answer'),
      mergeMap(() => Array.from({ length: 40 }, () => context.alert('info', 'large',
        Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`v${i}`, 'y'.repeat(1_900)]))))),
    );
    return p.deed === 'completion' ? told.pipe(take(1)) : merge(told, later, timers, large, holdings);
  },
});
