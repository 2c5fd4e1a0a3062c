import { concatMap, from, map, merge, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import type { SwapOptions } from '../../src/strategy/index.ts';
import { freshSnapshot, snapshotState } from '../../src/trading/engine-state.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { KELP, SOL_USDC, USDC } from '../market/tokens.ts';
import { WALLET, fillOf, outcome } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { alerts, start, strategy } from './runs.ts';

const MINUTE = 60_000;

/** Proposes five levels at the first price, and alerts what becomes of each. */
const grid = (retry: SwapOptions['retry'] | undefined = { until: '10m', every: '5s' }): Body => ({ price }, context) =>
  merge(
    price!.pipe(take(1), concatMap(() => from([1, 2, 3, 4, 5]).pipe(map((level) =>
      context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, `level ${level}`, {
        key: `level-${level}`, ...(retry === undefined ? {} : { retry }),
      }))))),
    context.outcomes$.pipe(map(({ state, key }) => context.alert('info', `${state} ${key}`))),
    context.denials$.pipe(map(({ code, key }) => context.alert('info', `${code} ${key}`))),
  );

const intentsOf = (run: Run): Intent[] =>
  run.effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent] : []));

/** Confirms the last intent after four seconds. */
function fill(run: Run, intent: Intent): void {
  const at = run.engine.clock.now() + 4_000;
  for (const state of ['building', 'signed', 'submitted'] as const) run.engine.accept(outcome(intent, state), at);
  run.engine.accept(outcome(intent, 'confirmed', { fill: fillOf(intent, 100_000_000n) }), at);
}

function pass({ engine }: Run, until: Millis): void {
  while (engine.clock.now() < until) engine.advanceTo(Math.min(until, engine.clock.now() + 1_000));
}

const swapsOf = (run: Run): string[] => run.logged.flatMap(({ at, proposal, code }) =>
  (proposal.kind === 'swap' ? [`${at} ${proposal.key} ${code ?? 'approved'}`] : []));

/** Five levels whose swaps take four seconds each. */
function fiveLevels(): Run {
  const run = start([strategy('diver', grid())]);
  run.engine.accept(buyingSol(150_000, 1_000), 1_000);
  for (let filled = 0; filled < 5; filled += 1) {
    fill(run, intentsOf(run)[filled]!);
    pass(run, run.engine.clock.now() + 5_000);
  }
  return run;
}

describe('a retry policy', () => {
  it('fills five levels that spend one token, one after the other, each once', () => {
    const run = fiveLevels();
    expect(intentsOf(run).map(({ key }) => key)).toEqual(['level-1', 'level-2', 'level-3', 'level-4', 'level-5']);
    expect(alerts(run).filter((text) => text.includes('confirmed')).map((text) => text.split(' ').at(-1)))
      .toEqual(['level-1', 'level-2', 'level-3', 'level-4', 'level-5']);
    // Four refusals at the first price, and none for the waits.
    expect(swapsOf(run).filter((text) => text.endsWith('INTENT_OPEN_FOR_MINT'))).toHaveLength(4);
    expect(alerts(run).some((text) => text.includes('INTENT_OPEN_FOR_MINT'))).toBe(false);
    expect(run.state.retries.size).toBe(0);
  });

  it('decides the same in a replay', () => {
    const run = fiveLevels();
    const again = start([strategy('diver', grid())]);
    for (const { at, input } of run.inputs) again.engine.accept(input, at);
    again.engine.advanceTo(run.engine.clock.now());
    expect(again.engine.decisionHash).toBe(run.engine.decisionHash);
  });

  it('tells the strategy the refusal when the time is over, once', () => {
    const run = start([strategy('diver', grid({ until: '1m', every: '7s' }))]);
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    pass(run, 60_999);
    expect(alerts(run)).toEqual([]);
    pass(run, 10 * MINUTE);
    expect(alerts(run)).toEqual([2, 3, 4, 5].map((level) => `61000 INTENT_OPEN_FOR_MINT level-${level}`));
    expect(run.state.retries.size).toBe(0);
  });

  it('does not wait for a refusal that does not pass by itself', () => {
    const run = start([strategy('diver', grid())]);
    run.engine.accept(
      { kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'a test' }, 500);
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    expect(alerts(run)).toEqual([1, 2, 3, 4, 5].map((level) => `1000 TRADING_HALTED level-${level}`));
  });

  it('ends with another refusal that appears during the wait', () => {
    const run = start([strategy('diver', grid())]);
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    run.engine.accept(
      { kind: 'command', name: 'set-trading-state', state: 'reduce-only', reason: 'a test' }, 2_000);
    pass(run, 7_000);
    expect(alerts(run)).toEqual([2, 3, 4, 5].map((level) => `6000 TRADING_REDUCE_ONLY level-${level}`));
  });

  it('waits for a price, and for an input that is too old', () => {
    for (const limits of [{ maxTrade: { mint: KELP.mint, amount: 10n ** 15n as Amount } }, undefined]) {
      const run = start([strategy('diver', grid())], limits === undefined ? { maxAgeMs: 3_000 } : { limits });
      const stale = { ...buyingSol(150_000, 10_000), eventAt: limits === undefined ? 1_000 : 10_000 };
      run.engine.accept(stale, 10_000);
      expect(intentsOf(run)).toEqual([]);
      expect(swapsOf(run)[0]).toBe(`10000 level-1 ${limits === undefined ? 'INPUT_STALE' : 'VALUE_UNKNOWN'}`);
      expect(alerts(run)).toEqual([]);
      expect(run.state.retries.size).toBe(5);
      if (limits !== undefined) continue;
      run.engine.accept(buyingSol(150_000, 14_000), 14_000);
      pass(run, 16_000);
      expect(intentsOf(run).map(({ key, createdAt }) => [key, createdAt])).toEqual([['level-1', 15_000]]);
    }
  });
});

const restarted = (change: (snapshot: StateSnapshot) => Partial<StateSnapshot> = () => ({})): Run => {
  const first = start([strategy('diver', grid())]);
  first.engine.accept(buyingSol(150_000, 1_000), 1_000);
  const snapshot = JSON.parse(JSON.stringify(snapshotState(first.state))) as StateSnapshot;
  return start([strategy('diver')], {
    startAt: 20_000, snapshot: { ...snapshot, ...change(snapshot) },
    open: [{ intent: intentsOf(first)[0]!, state: 'submitted' }],
  });
};

describe('a wait of a retry policy', () => {
  it('goes on after a restart under its keys', () => {
    const run = restarted();
    expect(run.state.retries.size).toBe(4);
    pass(run, 30_000);
    expect(intentsOf(run)).toEqual([]);
    run.engine.accept(buyingSol(150_000, 31_000), 31_000);
    run.engine.accept(outcome({ id: 'diver-1' } as Intent, 'expired'), 31_000);
    pass(run, 36_000);
    expect(intentsOf(run)).toEqual([expect.objectContaining({ key: 'level-2', id: 'diver-2', createdAt: 35_000 })]);
  });

  it('is forgotten where the journal knows a swap under its key: there are never two', () => {
    const run = restarted(({ keys }) => ({ keys: [...keys, 'diver:level-2', 'diver:level-3'] }));
    expect([...run.state.retries.entries()].map(([name]) => name)).toEqual(['diver:level-4', 'diver:level-5']);
  });

  it('is forgotten where its time is over, or its strategy is no longer configured', () => {
    const first = start([strategy('diver', grid({ until: '10s', every: '5s' }))]);
    first.engine.accept(buyingSol(150_000, 1_000), 1_000);
    const snapshot = snapshotState(first.state);
    expect(start([strategy('diver')], { startAt: 11_000, snapshot }).state.retries.size).toBe(0);
    expect(start([strategy('other')], { startAt: 2_000, snapshot }).state.retries.size).toBe(0);
  });

  it('ends a strategy that names no key, or asks for more than a try a second', () => {
    const policies: readonly SwapOptions[] = [
      { retry: { until: '1m', every: '5s' } }, { key: 'k', retry: { until: '1m', every: '500ms' } },
      { key: 'k', retry: { until: Number.NaN, every: '5s' } },
    ];
    const reasons = policies.map((options) => {
      const run = start([strategy('diver', ({ price }, context) => price!.pipe(map(() =>
        context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'once', options))))]);
      run.engine.accept(buyingSol(150_000, 1_000), 1_000);
      return run.engine.stopped[0]?.reason;
    });
    expect(reasons).toEqual([
      expect.stringContaining('expected a key beside a retry policy'),
      expect.stringContaining('expected retries every 1s'),
      expect.stringContaining('expected the end of retries as a time'),
    ]);
  });

  it('is refused as before where a hundred of the strategy wait already', () => {
    const run = start([strategy('diver', ({ price }, context) => merge(
      price!.pipe(take(1), concatMap(() => Array.from({ length: 103 }, (_, n) =>
        context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'many', {
          key: `k${n}`, retry: { until: '1m', every: '5s' },
        })))),
      context.denials$.pipe(map(({ key, code }) => context.alert('info', `${key} ${code}`))),
    ))]);
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    expect(run.state.retries.size).toBe(100);
    expect(alerts(run)).toEqual([101, 102].map((n) => `1000 k${n} INTENT_OPEN_FOR_MINT`));
  });

  it('makes no proposal of a strategy that was stopped', () => {
    const run = start([strategy('diver', (streams, context) => merge(
      grid()(streams, context),
      streams['price']!.pipe(map((_, n) => {
        if (n === 1) throw new Error('a fault of its own');
        return context.alert('info', 'a price');
      })),
    ))], { snapshot: freshSnapshot(WALLET) });
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    run.engine.accept(buyingSol(150_000, 2_000), 2_000);
    run.engine.accept(outcome(intentsOf(run)[0]!, 'building'), 3_000);
    run.engine.accept(outcome(intentsOf(run)[0]!, 'abandoned'), 3_000);
    pass(run, 20 * MINUTE);
    expect(intentsOf(run)).toHaveLength(1);
  });
});
