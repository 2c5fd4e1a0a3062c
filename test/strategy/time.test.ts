import type { Observable, OperatorFunction } from 'rxjs';
import { defer, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import {
  auditTime, bufferTime, debounceTime, delay, interval, repeat, retry, sampleTime, slots, throttleTime, timeout, timer,
} from '../../src/strategy/index.ts';

/** Returns the values of an Observable until `end`, each with its instant. */
function heard(clock: VirtualClock, source$: Observable<unknown>, end: number): string[] {
  const said: string[] = [];
  source$.subscribe({
    next: (value) => { said.push(`${JSON.stringify(value)}@${clock.now()}`); },
    error: (error: Error) => { said.push(`${error.name}@${clock.now()}`); },
    complete: () => { said.push(`end@${clock.now()}`); },
  });
  clock.advanceTo(end);
  return said;
}

/** Returns what an operator makes of a, b, c, d at 0, 5, 14 and 30 ms. */
function through<T>(operator: (context: { clock: Clock }) => OperatorFunction<string, T>): string[] {
  const clock = new VirtualClock(0);
  const source = new Subject<string>();
  for (const [at, value] of [[0, 'a'], [5, 'b'], [14, 'c'], [30, 'd']] as const)
    clock.schedule(() => { source.next(value); }, at);
  return heard(clock, source.pipe(operator({ clock })), 100);
}

describe('the time operators use only the given clock:', () => {
  it('debounceTime', () => {
    expect(through((context) => debounceTime(context, '10ms'))).toEqual(['"c"@24', '"d"@40']);
  });

  it('throttleTime', () => {
    expect(through((context) => throttleTime(context, '10ms'))).toEqual(['"a"@0', '"c"@14', '"d"@30']);
  });

  it('auditTime', () => {
    expect(through((context) => auditTime(context, '10ms'))).toEqual(['"b"@10', '"c"@24', '"d"@40']);
  });

  it('sampleTime', () => {
    expect(through((context) => sampleTime(context, '10ms'))).toEqual(['"b"@10', '"c"@20', '"d"@30']);
  });

  it('bufferTime', () => {
    expect(through((context) => bufferTime(context, '50ms'))).toEqual(['["a","b","c","d"]@50', '[]@100']);
  });

  it('delay', () => {
    expect(through((context) => delay(context, '1s'))).toEqual([]);
    expect(through((context) => delay(context, '3ms'))).toEqual(['"a"@3', '"b"@8', '"c"@17', '"d"@33']);
  });

  it('timeout', () => {
    expect(through((context) => timeout(context, '15ms'))).toEqual(['"a"@0', '"b"@5', '"c"@14', 'TimeoutError@29']);
  });

  it('interval and timer', () => {
    const clock = new VirtualClock(1_000);
    expect(heard(clock, interval({ clock }, '10ms'), 1_025)).toEqual(['0@1010', '1@1020']);
    expect(heard(clock, timer({ clock }, '10ms'), 2_000)).toContain('0@1035');
  });

  it('retry', () => {
    const clock = new VirtualClock(0);
    let tries = 0;
    const failing$ = defer(() => (++tries < 3 ? throwError(() => new Error('not yet')) : of('there')));
    expect(heard(clock, failing$.pipe(retry({ clock }, { count: 5, delay: '10ms' })), 100))
      .toEqual(['"there"@20', 'end@20']);
    tries = -9;
    expect(heard(clock, failing$.pipe(retry({ clock }, { count: 2, delay: '10ms' })), 200)).toEqual(['Error@120']);
  });

  it('repeat', () => {
    const clock = new VirtualClock(0);
    expect(heard(clock, of('x').pipe(repeat({ clock }, { count: 3, delay: '10ms' })), 100))
      .toEqual(['"x"@0', '"x"@10', '"x"@20', 'end@20']);
  });
});

describe('slots', () => {
  it('begin on an absolute grid: the present one at once, the next at its start', () => {
    const clock = new VirtualClock(25_000);
    expect(heard(clock, slots({ clock }, { every: '10s' }), 45_000)).toEqual(['2@25000', '3@30000', '4@40000']);
  });

  it('are shifted by the offset', () => {
    const clock = new VirtualClock(25_000);
    expect(heard(clock, slots({ clock }, { every: '10s', offset: '3s' }), 45_000))
      .toEqual(['2@25000', '3@33000', '4@43000']);
    const early = new VirtualClock(1_000);
    expect(heard(early, slots({ clock: early }, { every: '10s', offset: '3s' }), 5_000)).toEqual(['-1@1000', '0@3000']);
  });

  it('repeat the same number after a restart within a slot', () => {
    const before = new VirtualClock(25_000);
    const after = new VirtualClock(29_999);
    expect(heard(before, slots({ clock: before }, { every: '10s' }), 25_000)).toEqual(['2@25000']);
    expect(heard(after, slots({ clock: after }, { every: '10s' }), 30_000)).toEqual(['2@29999', '3@30000']);
  });

  it('end with the subscription and hold one timer only', () => {
    const inner = new VirtualClock(0);
    const handedOut: { readonly closed: boolean }[] = [];
    const clock: Clock = {
      now: () => inner.now(),
      schedule: (...args: Parameters<Clock['schedule']>) => {
        const timerOf = inner.schedule(...(args as Parameters<VirtualClock['schedule']>));
        handedOut.push(timerOf);
        return timerOf;
      },
    };
    let count = 0;
    const subscription = slots({ clock }, { every: '1s' }).subscribe(() => { count += 1; });
    inner.advanceTo(1_000_000);
    expect(count).toBe(1_001);
    expect(handedOut.filter(({ closed }) => !closed)).toHaveLength(1);
    subscription.unsubscribe();
    expect(inner.nextAt()).toBe(Infinity);
  });
});
