import * as fc from 'fast-check';
import { map, merge, mergeMap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { PricedQuote } from '../../src/strategy/index.ts';
import { auditTime, bufferTime, debounceTime, delay, interval, slots, timer } from '../../src/strategy/index.ts';
import { buyingSol } from '../market/events.ts';
import type { Run } from './runs.ts';
import { alerts, start, strategy } from './runs.ts';

/** A strategy that alerts at every time-dependent event. */
const timely = (name: string): StrategyInstance => strategy(name, (streams, context) => {
  const price$ = streams['price']!.pipe(map((quote) => Math.round((quote as PricedQuote).price)));
  const say = (what: string) =>
    map((value: unknown) => context.alert('info', `${what} ${String(value)} at ${context.now()}`));
  return merge(
    price$.pipe(say('price')),
    price$.pipe(debounceTime(context, '3ms'), say('quiet')),
    price$.pipe(auditTime(context, '4ms'), say('audit')),
    price$.pipe(delay(context, '2ms'), say('late')),
    price$.pipe(bufferTime(context, '15ms'), say('bunch')),
    price$.pipe(mergeMap((price) => timer(context, `${1 + (price % 6)}ms`)), say('own')),
    interval(context, '7ms').pipe(say('tick')),
    slots(context, { every: '10ms' }).pipe(say('slot')),
  );
});

interface Event {
  readonly at: number;
  readonly price: number;
}

/** Drives by the stamps of the events, with wake-ups in between as io would give them: late, early, or none. */
function drive(events: readonly Event[], wakeUps: readonly number[], end: number): Run {
  const run = start([timely('diver'), timely('other')], { startAt: 1_000 });
  const waking = [...wakeUps].sort((a, b) => a - b);
  for (const { at, price } of events) {
    while (waking.length > 0 && waking[0]! <= at) run.engine.advanceTo(waking.shift()!);
    run.engine.accept(buyingSol(price * 1_000, at), at);
  }
  for (const wake of waking) if (wake <= end) run.engine.advanceTo(wake);
  run.engine.advanceTo(end);
  return run;
}

describe('the timing law', () => {
  it('fires a timer of 5.000 s before an event of 5.001 s, even if it is woken at 5.003 s', () => {
    const asking = strategy('diver', ({ price }, context) => merge(
      timer(context, '5s').pipe(map(() => context.alert('info', 'timer'))),
      price!.pipe(map(() => context.alert('info', 'event'))),
    ));
    const live = start([asking]);
    live.engine.accept(buyingSol(150_000, 5_001), 5_001);
    live.engine.advanceTo(5_003);
    const replay = start([asking]);
    replay.engine.accept(buyingSol(150_000, 5_001), 5_001);
    const early = start([asking]);
    early.engine.advanceTo(5_000);
    early.engine.accept(buyingSol(150_000, 5_001), 5_001);

    expect(alerts(live)).toEqual(['5000 timer', '5001 event']);
    expect(live.order).toEqual(['out 1', 'in 2', 'out 3']);
    expect(live.engine.decisionHash).toBe(replay.engine.decisionHash);
    expect(live.engine.decisionHash).toBe(early.engine.decisionHash);
  });

  it('fires a timer before an event of the same instant', () => {
    const run = start([strategy('diver', ({ price }, context) => merge(
      price!.pipe(map(() => context.alert('info', 'event'))),
      timer(context, '5s').pipe(map(() => context.alert('info', 'timer')))))]);
    run.engine.accept(buyingSol(150_000, 5_000), 5_000);
    expect(alerts(run)).toEqual(['5000 timer', '5000 event']);
  });

  it('gives the same decisions for any timers and events, whenever io wakes the engine', () => {
    const gaps = fc.array(fc.record({ gap: fc.nat(12), price: fc.integer({ min: 100, max: 200 }) }), { maxLength: 40 });
    fc.assert(fc.property(gaps, fc.array(fc.nat(300), { maxLength: 60 }), (spaced, wakeUps) => {
      let at = 1_000;
      const events = spaced.map(({ gap, price }) => ({ at: (at += gap), price }));
      const end = at + 100;
      const replay = drive(events, [], end);
      const live = drive(events, wakeUps.map((after) => 1_000 + after), end);
      expect(live.logged).toEqual(replay.logged);
      expect(live.engine.decisionHash).toBe(replay.engine.decisionHash);
      expect(replay.logged.length).toBeGreaterThan(events.length);
    }), { numRuns: 150 });
  });

  it('fires each overdue timer once after the machine’s sleep, at the present', () => {
    const asking = strategy('diver', ({ price }, context) => merge(
      interval(context, '1s').pipe(map(() => context.alert('info', 'tick'))),
      price!.pipe(map(() => context.alert('info', 'price'))),
    ));
    const run = start([asking]);
    run.engine.accept(buyingSol(150_000, 500), 500);
    run.engine.accept({ kind: 'command', name: 'leap-time', from: 500, reason: 'slept' }, 28_800_000);
    run.engine.advanceTo(28_801_000);
    expect(alerts(run)).toEqual(['500 price', '28800000 tick', '28801000 tick']);
  });

  it('fires timers from before the sleep at their own instants, also in a replay of the clock jump', () => {
    const ticking = strategy('diver', (_streams, context) =>
      interval(context, '1s').pipe(map(() => context.alert('info', 'tick'))));
    const live = start([ticking]);
    live.engine.advanceTo(2_500);
    const leap = { kind: 'command', name: 'leap-time', from: live.engine.clock.now(), reason: 'slept' } as const;
    live.engine.accept(leap, 28_800_000);
    const replay = start([ticking]);
    replay.engine.accept(leap, 28_800_000);
    expect(alerts(live)).toEqual(['1000 tick', '2000 tick', '28800000 tick']);
    expect(live.engine.decisionHash).toBe(replay.engine.decisionHash);
  });
});
