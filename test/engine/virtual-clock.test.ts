import * as fc from 'fast-check';
import { debounceTime, interval, Subject, take, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { AssertionError } from '../../src/core/assert.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';

describe('the virtual clock', () => {
  it('moves only by its methods, and never back', () => {
    const clock = new VirtualClock(1_000);
    expect([clock.now(), clock.nextAt()]).toEqual([1_000, Infinity]);
    clock.advanceTo(5_000);
    clock.advanceTo(4_000);
    expect(clock.now()).toBe(5_000);
  });

  it('fires timers in order of instant and scheduling, each at its own instant', () => {
    const clock = new VirtualClock(0);
    const fired: string[] = [];
    for (const [name, delay] of [['c', 30], ['a', 10], ['b1', 20], ['b2', 20], ['now', 0], ['late', 31]] as const) {
      clock.schedule(() => { fired.push(`${name}@${clock.now()}`); }, delay);
    }
    clock.advanceTo(30);
    expect(fired).toEqual(['now@0', 'a@10', 'b1@20', 'b2@20', 'c@30']);
    expect([clock.now(), clock.nextAt()]).toEqual([30, 31]);
  });

  it('fires timers that timers schedule at their own instants', () => {
    const clock = new VirtualClock(0);
    const fired: string[] = [];
    clock.schedule(() => {
      clock.schedule(() => { fired.push(`child@${clock.now()}`); }, 5);
      clock.schedule(() => { fired.push(`at once@${clock.now()}`); }, 0);
    }, 10);
    clock.schedule(() => { fired.push(`later@${clock.now()}`); }, 12);
    clock.advanceTo(100);
    expect(fired).toEqual(['at once@10', 'later@12', 'child@15']);
  });

  it('treats a negative delay as zero and refuses NaN', () => {
    const clock = new VirtualClock(50);
    const fired: number[] = [];
    clock.schedule(() => { fired.push(clock.now()); }, -20);
    clock.advanceTo(50);
    expect(fired).toEqual([50]);
    expect(() => clock.schedule(() => undefined, Number.NaN)).toThrow(AssertionError);
  });

  it('does not fire an unsubscribed timer, even if unsubscribed at the same instant', () => {
    const clock = new VirtualClock(0);
    const fired: string[] = [];
    const gone = clock.schedule(() => { fired.push('gone'); }, 10);
    const first = clock.schedule(() => { second.unsubscribe(); fired.push('first'); }, 20);
    const second = clock.schedule(() => { fired.push('second'); }, 20);
    gone.unsubscribe();
    expect(clock.nextAt()).toBe(20);
    clock.advanceTo(100);
    expect(fired).toEqual(['first']);
    expect(first.closed).toBe(false);
    expect(clock.nextAt()).toBe(Infinity);
  });

  it('calls afterEach after each timer, and only then', () => {
    const clock = new VirtualClock(0);
    const order: string[] = [];
    for (const delay of [1, 2]) clock.schedule(() => { order.push(`timer ${delay}`); }, delay);
    clock.advanceTo(5, () => { order.push(`after ${clock.now()}`); });
    clock.advanceTo(9, () => { order.push('never'); });
    expect(order).toEqual(['timer 1', 'after 1', 'timer 2', 'after 2']);
  });

  it('passes the state to the work, which can reschedule itself', () => {
    const clock = new VirtualClock(0);
    const seen: unknown[] = [];
    clock.schedule<number>(function again(count) {
      seen.push([clock.now(), count]);
      if (count! < 3) this.schedule(count! + 1, 10);
    }, 5, 1);
    clock.advanceTo(100);
    expect(seen).toEqual([[5, 1], [15, 2], [25, 3]]);
  });

  it('stops a timer that keeps firing at one instant, but not one that fires often', () => {
    const clock = new VirtualClock(0);
    clock.schedule(function forever() { this.schedule(undefined, 0); }, 5);
    expect(() => { clock.advanceTo(10); }).toThrow('timers keep firing at the one instant 5');

    const busy = new VirtualClock(0);
    let count = 0;
    busy.schedule(function often() { count += 1; this.schedule(undefined, 1); }, 0);
    busy.advanceTo(150_000);
    expect(count).toBe(150_001);
  });

  it('fires any set of timers like a sorted list, in steps of any size', () => {
    const delays = fc.array(fc.record({ delay: fc.nat(50), cancel: fc.boolean() }), { maxLength: 60 });
    fc.assert(fc.property(delays, fc.array(fc.nat(60), { maxLength: 8 }), (timers, stops) => {
      const clock = new VirtualClock(0);
      const fired: number[] = [];
      timers.forEach(({ delay, cancel }, n) => {
        const subscription = clock.schedule(() => {
          expect(clock.now()).toBe(delay);
          fired.push(n);
        }, delay);
        if (cancel) subscription.unsubscribe();
      });
      for (const stop of stops) clock.advanceTo(stop);
      clock.advanceTo(60);
      const expected = timers.map(({ delay, cancel }, n) => ({ delay, cancel, n })).filter(({ cancel }) => !cancel)
        .sort((a, b) => a.delay - b.delay || a.n - b.n).map(({ n }) => n);
      expect(fired).toEqual(expected);
    }));
  });
});

describe('RxJS on the virtual clock', () => {
  it('ticks an interval at its own instants and stops with the subscription', () => {
    const clock = new VirtualClock(100);
    const ticks: number[] = [];
    interval(10, clock).pipe(take(3)).subscribe(() => { ticks.push(clock.now()); });
    clock.advanceTo(125);
    expect(ticks).toEqual([110, 120]);
    clock.advanceTo(1_000);
    expect(ticks).toEqual([110, 120, 130]);
    expect(clock.nextAt()).toBe(Infinity);
  });

  it('debounces', () => {
    const clock = new VirtualClock(0);
    const source = new Subject<string>();
    const seen: string[] = [];
    source.pipe(debounceTime(10, clock)).subscribe((value) => { seen.push(`${value}@${clock.now()}`); });
    for (const [at, value] of [[0, 'a'], [5, 'b'], [14, 'c'], [30, 'd']] as const) {
      clock.advanceTo(at);
      source.next(value);
    }
    clock.advanceTo(100);
    expect(seen).toEqual(['c@24', 'd@40']);
  });

  it('waits for a timer', () => {
    const clock = new VirtualClock(0);
    const seen: number[] = [];
    timer(25, clock).subscribe({ next: () => { seen.push(clock.now()); }, complete: () => { seen.push(-1); } });
    clock.advanceTo(24);
    expect(seen).toEqual([]);
    clock.advanceTo(25);
    expect(seen).toEqual([25, -1]);
  });

  it('jumps: each overdue timer fires once, at the present', () => {
    const clock = new VirtualClock(0);
    const fired: [string, number][] = [];
    interval(1_000, clock).subscribe(() => { fired.push(['interval', clock.now()]); });
    clock.schedule(() => { fired.push(['once', clock.now()]); }, 2_500);
    clock.jumpTo(8 * 3_600_000);
    expect(fired).toEqual([['interval', 28_800_000], ['once', 28_800_000]]);
    clock.advanceTo(28_801_000);
    expect(fired.at(-1)).toEqual(['interval', 28_801_000]);
  });
});
