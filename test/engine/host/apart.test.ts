import { filter, ignoreElements, map, merge, mergeMap, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createRealm, inThisProcess } from '../../../src/engine/host/realm.ts';
import type { ApartStrategy, Ending, StrategyCall } from '../../../src/engine/host/strategy-call.ts';
import type { StrategyInstance } from '../../../src/engine/strategy-host.ts';
import type { Outcome } from '../../../src/strategy/index.ts';
import { interval, quotes } from '../../../src/strategy/index.ts';
import type { StopStrategy } from '../../../src/trading/engine-command.ts';
import type { Effect } from '../../../src/trading/step.ts';
import { buyingSol, PURCHASE, sellingSol } from '../../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../../market/tokens.ts';
import { outcome } from '../../trading/states.ts';
import type { Run } from '../runs.ts';
import { alerts, apart, decided, prepare, start, strategy } from '../runs.ts';

const TIMEOUT: Ending =
  { code: 'STRATEGY_TIMEOUT', reason: 'it took more than 250ms for an event', place: 'dip.ts:3:1' };

/** Counts prices and ended swaps in a kept state, buys at each third price, and alerts at each price and timer. */
const busy = (name: string): StrategyInstance => strategy(name, ({ price }, context) => {
  const seen = context.stateful('seen', { prices: 0, ended: 0 }, (state, event: Outcome | 'price') => (
    event === 'price' ? { ...state, prices: state.prices + 1 }
      : event.state === 'abandoned' ? { ...state, ended: state.ended + 1 } : state));
  return merge(
    context.outcomes$.pipe(seen, ignoreElements()),
    context.denials$.pipe(map(({ code }) => context.alert('info', `denied: ${code}`))),
    interval(context, '7ms').pipe(map((n) => context.alert('info', `timer ${n}: ${context.openIntents()} open`))),
    price!.pipe(map(() => 'price' as const), seen, mergeMap(({ state }) => [
      context.alert('info', `${state.prices} prices, ${state.ended} ended, ${context.available(USDC)} left`),
      ...(state.prices % 3 === 0 ? [context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'every third')] : []),
    ])),
  );
});

/** Ends instead of answering the calls that `ends` selects. */
function endingAt(instance: StrategyInstance, ends: (call: StrategyCall, count: number) => boolean): StrategyInstance {
  const inner = apart(instance).apart!;
  let count = 0;
  const ending: ApartStrategy = {
    call: (call, portfolio) => (ends(call, ++count) ? { ending: TIMEOUT } : inner.call(call, portfolio)),
  };
  return { ...instance, apart: ending };
}

function show(run: Run, ...ats: number[]): void {
  for (const at of ats) {
    run.engine.accept(buyingSol(150_000 + at, at), at);
    for (const effect of run.effects.splice(0)) abandon(run, effect, at);
  }
}

function abandon(run: Run, effect: Effect, at: number): void {
  if (effect.kind === 'execute') run.engine.accept(outcome(effect.intent, 'abandoned'), at);
}

const stopsOf = (run: Run): StopStrategy[] => run.inputs.map(({ input }) => input)
  .filter((input) => input.kind === 'command' && input.name === 'stop-strategy');

/** Repeats the inputs of a run with its strategies in this process. */
function replayOf(run: Run, strategies: readonly StrategyInstance[], end: number): Run {
  const replayed = start(strategies.map((instance) => (
    { ...instance, apart: inThisProcess(createRealm({ ...instance, seed: 7 })) })), { stops: stopsOf(run) });
  const given = run.inputs.map(({ at, input }) => ({ at, input }));
  for (const { at, input } of given) replayed.engine.accept(input, at);
  replayed.engine.advanceTo(end);
  return replayed;
}

describe('a strategy that runs apart from the engine', () => {
  it('decides the same at the same instants as in the engine’s process', () => {
    const runs = [start([busy('a'), busy('b')]), start([apart(busy('a')), apart(busy('b'))])];
    for (const run of runs) {
      show(run, 10, 11, 20, 25, 40);
      run.engine.advanceTo(100);
    }
    const [together, separate] = runs as [Run, Run];
    expect(separate.logged).toEqual(together.logged);
    expect(separate.engine.decisionHash).toBe(together.engine.decisionHash);
    expect(decided(separate, 'a').length).toBeGreaterThan(15);
    expect(separate.engine.takeStrategyStates()).toEqual(together.engine.takeStrategyStates());
  });

  it('sees the rows of a recording, whose members are getters, as plain data', () => {
    const { kind, ...members } = buyingSol(151_000, 10);
    const getters = Object.entries({ kind, ...members }).map(([name, value]) => [name, { get: () => value }] as const);
    const prototype: object = Object.defineProperties({}, Object.fromEntries(getters));
    const row: ReturnType<typeof buyingSol> = Object.create(prototype);
    const run = start([apart(strategy('dip', ({ price }, context) =>
      price!.pipe(map((quote) => context.alert('info', `${(quote as { price: number }).price}`)))))]);
    run.engine.accept(row, 10);
    expect(alerts(run)).toEqual(['10 151.00000082748002']);
  });

  it('is stopped by a recorded command where its process ends, and its neighbour decides the same', () => {
    const run = start([
      busy('before'), endingAt(busy('culprit'), ({ at, kind }) => kind === 'event' && at === 20), busy('after'),
    ]);
    const undisturbed = start([busy('before'), busy('culprit'), busy('after')]);
    for (const one of [run, undisturbed]) {
      show(one, 10, 20, 30, 40);
      one.engine.advanceTo(60);
    }
    expect(stopsOf(run)).toEqual([expect.objectContaining({
      strategy: 'culprit', code: 'STRATEGY_TIMEOUT', start: 1, place: 'dip.ts:3:1',
    })]);
    expect(alerts(run, 'culprit').filter((text) => text.includes('stopped')))
      .toEqual(['20 strategy culprit stopped: it took more than 250ms for an event']);
    expect(run.engine.stopped).toEqual([{ name: 'culprit', at: 20, ...TIMEOUT }]);
    expect(run.engine.running).toEqual(['before', 'after']);
    for (const name of ['before', 'after']) expect(decided(run, name)).toEqual(decided(undisturbed, name));
    // Nothing of the call that was ended counts, and no timer fires after it.
    expect(run.logged.filter(({ strategy: name, at }) => name === 'culprit' && at > 20)).toEqual([]);
  });

  it('is stopped at the same place in a replay, which does not make the call', () => {
    for (const kind of ['start', 'event', 'timer', 'outcome', 'denial'] as const) {
      let seen = 0;
      const run = start([
        endingAt(busy('culprit'), (call) => call.kind === kind && (++seen === 2 || kind === 'start')), busy('after'),
      ], { limits: { maxIntentsPerHour: 1 } as never });
      show(run, 10, 20, 30, 40, 50, 60, 70);
      run.engine.advanceTo(80);
      expect(stopsOf(run), kind).toHaveLength(kind === 'denial' && seen < 2 ? 0 : 1);
      const again = replayOf(run, [busy('culprit'), busy('after')], 80);
      expect(again.logged, kind).toEqual(run.logged);
      expect(again.engine.decisionHash).toBe(run.engine.decisionHash);
      expect(again.engine.stopped.map(({ name, code }) => ({ name, code })))
        .toEqual(run.engine.stopped.map(({ name, code }) => ({ name, code })));
    }
  });

  it('goes on from its kept state when it is started again, with the outcomes that it missed', () => {
    const run = start([endingAt(busy('culprit'), ({ at, kind }) => kind === 'event' && at === 40), busy('after')]);
    for (const at of [10, 20, 30]) run.engine.accept(buyingSol(150_000, at), at);
    const [first] = run.effects.filter((effect) => effect.kind === 'execute');
    run.engine.accept(buyingSol(150_000, 40), 40);
    expect(run.engine.stopped).toHaveLength(1);
    run.engine.accept(outcome(first!.intent, 'abandoned'), 45);
    run.engine.accept({ kind: 'command', name: 'start-strategy', strategy: 'culprit', reason: 'started again' }, 50);
    expect(run.engine.stopped).toEqual([]);
    run.engine.accept(buyingSol(150_000, 60), 60);
    expect(alerts(run, 'culprit').at(-1)).toMatch(/^60 4 prices, 1 ended, /);
    expect(run.engine.takeStrategyStates().find(({ strategy: name }) => name === 'culprit')!.seen)
      .toEqual(['culprit-1']);
    run.engine.advanceTo(80);
    const again = replayOf(run, [busy('culprit'), busy('after')], 80);
    expect(again.logged).toEqual(run.logged);
    expect(again.engine.running).toEqual(['culprit', 'after']);
  });

  it('ends its watches when it is stopped, and begins new ones when it is started again', () => {
    const sales = quotes(SOL_USDC, { amount: { token: SOL, amount: 1_000_000_000n }, every: '5s' });
    const scout = strategy('scout', ({ price }, context) => merge(
      price!.pipe(map(() => context.alert('info', 'a purchase'))),
      price!.pipe(take(1), mergeMap(() => context.watch(sales)), map(() => context.alert('info', 'a sale'))),
    ));
    const run = start([endingAt(scout, ({ at }) => at === 30), busy('after')]);
    const watches = (): number => run.state.strategies.get('scout')!.watches.length;
    const told: [number, number][] = [];
    for (const at of [10, 20, 30, 40, 50, 60, 70]) {
      if (at === 50)
        run.engine.accept({ kind: 'command', name: 'start-strategy', strategy: 'scout', reason: 'again' }, at);
      run.engine.accept(at === 10 || at === 60 ? buyingSol(150_000, at) : sellingSol(140_000, at), at);
      told.push([at, watches()]);
    }
    expect(told).toEqual([[10, 1], [20, 1], [30, 0], [40, 0], [50, 0], [60, 1], [70, 1]]);
    expect(alerts(run, 'scout')).toEqual([
      '10 a purchase', '20 a sale', expect.stringContaining('30 strategy scout stopped'), '60 a purchase', '70 a sale',
    ]);
    const again = replayOf(run, [scout, busy('after')], 70);
    expect(again.logged).toEqual(run.logged);
    expect(again.engine.decisionHash).toBe(run.engine.decisionHash);
  });

  it('is stopped from outside a call by an order, which a replay repeats', () => {
    const run = start([apart(busy('culprit')), apart(busy('after'))]);
    show(run, 10, 20);
    const order =
      run.engine.stopOrder('culprit', { code: 'STRATEGY_NEIGHBOUR', reason: 'its process ended with after' });
    run.engine.accept(order!, 22);
    show(run, 30);
    run.engine.advanceTo(40);
    expect(run.engine.running).toEqual(['after']);
    const again = replayOf(run, [busy('culprit'), busy('after')], 40);
    expect(again.logged).toEqual(run.logged);
    expect(run.engine.stopOrder('unknown', TIMEOUT)).toBeUndefined();
  });

  it('is stopped in its warm-up as well, with the alert at the start', () => {
    const run = prepare([endingAt({ ...busy('culprit'), warmupMs: 10 }, ({ kind }) => kind === 'event'), busy('after')],
      { startAt: 100 });
    const rows = [95, 97][Symbol.iterator]();
    let at = 0;
    run.engine.warmUp({
      next: () => {
        const { value, done } = rows.next();
        at = value ?? at;
        return done !== true;
      },
      get at() { return at; },
      get input() { return buyingSol(150_000, at); },
    });
    run.engine.start();
    expect(alerts(run, 'culprit')).toEqual([expect.stringContaining('stopped: it took more than 250ms')]);
    expect(run.engine.running).toEqual(['after']);
  });
});

describe('a strategy that passes a bound of the engine', () => {
  const bounds: readonly (readonly [string, StrategyInstance, string])[] = [
    ['timers at one instant', strategy('culprit', (_streams, context) => {
      context.clock.schedule(function again() { this.schedule(undefined, 0); }, 5);
      return interval(context, '1h').pipe(filter(() => false), ignoreElements());
    }), 'its timers keep firing at one instant'],
    ['alerts', strategy('culprit', ({ price }, context) =>
      price!.pipe(mergeMap(() => Array.from({ length: 700 }, () => context.alert('info', 'again'))))),
    'it raises more than 600 alerts in a minute'],
    ['log lines', strategy('culprit', ({ price }, context) => price!.pipe(map(() => {
      for (let n = 0; n < 7_000; n++) context.log('again');
      return context.alert('info', 'logged');
    }))), 'it logs more than 6000 lines in a minute'],
  ];

  it.each(
    bounds,
  )('is stopped for its %s, the same here and apart, and its neighbour goes on', (_what, culprit, why) => {
    const hashes = [culprit, apart(culprit)].map((instance) => {
      const run = start([instance, busy('after')]);
      show(run, 10, 20);
      run.engine.advanceTo(30);
      expect(alerts(run, 'culprit').at(-1)).toContain(`stopped: ${why}`);
      expect(run.engine.stopped).toMatchObject([{ name: 'culprit', code: 'STRATEGY_FAILED', reason: why }]);
      expect(decided(run, 'after').length).toBeGreaterThan(4);
      return run.engine.decisionHash;
    });
    expect(hashes[1]).toBe(hashes[0]);
  });
});
