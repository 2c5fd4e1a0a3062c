import { filter, ignoreElements, map, merge, mergeMap, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { replayRun } from '../../src/backtest/replay.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { Outcome } from '../../src/strategy/index.ts';
import type { RestoredStates } from '../../src/trading/strategy-state.ts';
import type { Effect } from '../../src/trading/step.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';
import { outcome } from '../trading/states.ts';
import type { Run } from './runs.ts';
import { alerts, prepare, start, strategy } from './runs.ts';

/** Counts prices and last outcomes, buys at each second price, and alerts its counts at each price. */
const counting = (name = 'diver'): StrategyInstance => strategy(name, ({ price }, context) => {
  const seen = context.stateful('seen', { prices: 0, ended: [] as string[] }, (state, event: Outcome | 'price') => (
    event === 'price' ? { ...state, prices: state.prices + 1 }
      : isEnd(event) ? { ...state, ended: [...state.ended, `${event.intentId} ${event.state}`] } : state));
  return merge(
    context.outcomes$.pipe(seen, ignoreElements()),
    price!.pipe(map(() => 'price' as const), seen, mergeMap(({ state }) => [
      context.alert('info', `${state.prices} prices, ended: ${state.ended.join(', ')}`),
      ...(state.prices % 2 === 0 ? [context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'every second')] : []),
    ])),
  );
});

const isEnd = ({ state }: Outcome): boolean => ['confirmed', 'failed', 'expired', 'abandoned'].includes(state);

const kept = (prices: number, ...ended: string[]): string => JSON.stringify({ seen: { prices, ended } });

function show(run: Run, ...ats: number[]): void {
  for (const at of ats) run.engine.accept(buyingSol(150_000, at), at);
}

function executed(effects: readonly Effect[]): Extract<Effect, { kind: 'execute' }>[] {
  return effects.filter((effect) => effect.kind === 'execute');
}

describe('the kept state of a strategy', () => {
  it('is saved with each swap as of that swap, with the outcomes that it includes', () => {
    const run = start([counting()]);
    show(run, 10, 20);
    const [first] = executed(run.effects);
    expect(first!.strategyState).toEqual({ strategy: 'diver', text: kept(2), seen: [] });
    run.engine.accept(outcome(first!.intent, 'building'), 30);
    run.engine.accept(outcome(first!.intent, 'abandoned'), 31);
    show(run, 40, 50);
    expect(executed(run.effects)[1]!.strategyState)
      .toEqual({ strategy: 'diver', text: kept(4, 'diver-1 abandoned'), seen: ['diver-1'] });
  });

  it('is handed out after a change, and again where it could not be saved', () => {
    const run = start([counting(), strategy('plain')]);
    expect(run.engine.takeStrategyStates()).toEqual([{ strategy: 'diver', text: kept(0), seen: [] }]);
    expect(run.engine.takeStrategyStates()).toEqual([]);
    show(run, 10, 20);
    const { intent } = executed(run.effects)[0]!;
    run.engine.accept(outcome(intent, 'abandoned'), 30);
    const taken = run.engine.takeStrategyStates();
    expect(taken).toEqual([{ strategy: 'diver', text: kept(2, 'diver-1 abandoned'), seen: ['diver-1'] }]);
    run.engine.returnStrategyStates(taken);
    expect(run.engine.takeStrategyStates()).toEqual(taken);
  });

  it('is the start of the next run', () => {
    const run = start([counting()], {
      restored: { states: { diver: kept(6, 'diver-1 failed'), other: 'not its own' }, unseen: [] },
    });
    show(run, 10);
    expect(alerts(run)).toEqual(['10 7 prices, ended: diver-1 failed']);
  });

  it('is not handed out after a failure, since it may include half of an event', () => {
    const run = start([strategy('diver', ({ price }, context) => price!.pipe(
      context.stateful('n', 0, (n: number) => n + 1),
      filter(({ state }) => { if (state === 2) throw new Error('boom'); return false; }), mergeMap(() => NEVER)))]);
    run.engine.takeStrategyStates();
    show(run, 10);
    expect(run.engine.takeStrategyStates()).toEqual([{ strategy: 'diver', text: '{"n":1}', seen: [] }]);
    show(run, 20);
    expect(run.engine.takeStrategyStates()).toEqual([]);
  });

  it('stops only its strategy where it cannot be kept, with one alert', () => {
    const run = start([
      strategy('diver', ({ price }, context) =>
        price!.pipe(context.stateful<unknown, unknown>('n', 0, () => new Map()), mergeMap(() => NEVER))),
      strategy('second', (
        _streams, context,
      ) => { context.stateful('n', 0, (n) => n); context.stateful('n', 0, (n) => n); return NEVER; }),
      strategy('third', ({ price }, context) =>
        price!.pipe(mergeMap(() => { context.stateful('late', 0, (n) => n); return NEVER; }))),
      counting('last'),
    ], { restored: { states: {}, unseen: [] } });
    show(run, 10);
    expect(alerts(run).filter((text) => text.includes('stopped'))).toEqual([
      '0 strategy second stopped: two states have the name "n": give each its own',
      expect.stringMatching(/^10 strategy diver stopped: state n: expected plain data .*, got a Map$/),
      expect.stringMatching(/^10 strategy third stopped: the state "late" is asked for too late/),
    ]);
    expect(run.engine.running).toEqual(['last']);
  });

  it('is replaced by the initial one with a warning where it does not fit', () => {
    const fitting = strategy('diver', (_streams, context) => {
      const n = context.stateful('n', 0, (state) => state, { misfit: 'initial' });
      context.log(String(n.value));
      return NEVER;
    });
    const run = start([fitting], { restored: { states: { diver: '{"n":"zero"}' }, unseen: [] } });
    expect(alerts(run)).toEqual(['0 strategy diver begins with a new state "n", for the kept one does not fit: '
      + 'expected it to be a number, found a string']);
    expect(run.logs).toEqual(['diver: 0']);
  });
});

describe('the last outcomes of swaps', () => {
  const open = { intent: executed(bought().effects)[0]!.intent, state: 'submitted' } as const;
  const earlier: Outcome = { ...outcome(open.intent, 'expired'), intentId: 'diver-0' };

  it('from before the start are shown once, in order, to strategies with a state only', () => {
    const run = prepare([counting(), strategy(
      'other', (_streams, context) => context.outcomes$.pipe(map(({ intentId }) => context.alert('info', intentId))),
    )], {
      restored: {
        states: { diver: kept(2) },
        unseen: [earlier, { ...earlier, intentId: 'other-1' }, { ...earlier, intentId: 'gone-1' }],
      }, open: [open],
    });
    run.engine.accept(outcome(open.intent, 'unknown'), 5);
    run.engine.accept(outcome(open.intent, 'expired'), 6);
    run.engine.start();
    show(run, 10);
    expect(alerts(run)).toEqual(['10 3 prices, ended: diver-0 expired, diver-1 expired']);
    expect(run.engine.takeStrategyStates()).toEqual([
      { strategy: 'diver', text: kept(3, 'diver-0 expired', 'diver-1 expired'), seen: ['diver-0', 'diver-1'] },
    ]);
  });

  it('after the stop of a strategy are shown by the next run', () => {
    const run = bought();
    run.engine.takeStrategyStates();
    run.engine.stop();
    run.engine.accept(outcome(open.intent, 'abandoned'), 30);
    expect(run.engine.takeStrategyStates()).toEqual([]);
  });

  it('are seen where the strategy completes on them', () => {
    const run = start([strategy('diver', ({ price }, context) => merge(
      context.outcomes$.pipe(context.stateful('n', 0, (n: number) => n + 1), ignoreElements()),
      price!.pipe(map(() => context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'once'))),
    ))]);
    show(run, 10);
    const { intent } = executed(run.effects)[0]!;
    run.engine.accept(outcome(intent, 'abandoned'), 20);
    expect(run.engine.takeStrategyStates()).toEqual([{ strategy: 'diver', text: '{"n":1}', seen: ['diver-1'] }]);
  });

  it('are replayed with their effects', () => {
    const restored: RestoredStates = { states: { diver: kept(3) }, unseen: [earlier] };
    const run = prepare([counting()], { restored, open: [open] });
    run.engine.accept(outcome(open.intent, 'failed'), 5);
    run.engine.start();
    show(run, 10, 20, 30);
    const replayed = (given: RestoredStates) => replayRun({
      state: prepare([counting()], { open: [open] }).state, strategies: [counting()], seed: 7, startAt: 0,
      restored: given, started: { after_seq: 1, at: 5 }, stopped: null, cursor: cursorOf(run),
      recorded: run.logged.map(({ seq, at, h }) => ({ seq, at, h })),
    });
    expect(replayed(restored)).toMatchObject({ match: true, decisionHash: run.engine.decisionHash });
    expect(replayed({ states: { diver: kept(4) }, unseen: [earlier] }).match).toBe(false);
    expect(replayed({ states: { diver: kept(3) }, unseen: [] }).match).toBe(false);
  });
});

/** A run in which the second price led to a swap. */
function bought(): Run {
  const run = start([counting()]);
  show(run, 10, 20);
  return run;
}

function cursorOf({ inputs }: Run) {
  let place = -1;
  return {
    next: () => ++place < inputs.length,
    get seq() { return inputs[place]!.seq; },
    get at() { return inputs[place]!.at; },
    get input() { return inputs[place]!.input; },
  };
}
