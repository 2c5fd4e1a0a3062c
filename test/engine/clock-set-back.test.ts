import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import type { EngineState, StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { sellingSol } from '../market/events.ts';
import {
  carry, command, DAY, ELAPSED, HOUR, MINUTE, price, protection, START, stateUnder, usdc,
} from '../trading/protected-states.ts';
import { apply, approve, buy, outcome, verdictOn } from '../trading/states.ts';
import type { Run } from './runs.ts';
import { prepare, strategy } from './runs.ts';

const AHEAD = 8 * HOUR;
/** When the first run was, by its own clock; the second one begins at START. */
const FALSE_START = START + AHEAD;

/** Returns a state as it was left by a run whose clock was ahead, all in SOL at 100 USDC. */
function left(protections: readonly Protection[]): EngineState {
  const state = stateUnder(protections);
  price(state, 100, FALSE_START);
  carry(state, buy({ amount: 'all' }), FALSE_START, 'confirmed', { out: 5_000_000_000n });
  price(state, 100, FALSE_START + MINUTE);
  return state;
}

/** Returns the next run from its state, started at an instant. */
function goOn(state: EngineState, startAt: number, limits: Parameters<typeof prepare>[1] & object = {}): Run {
  const run = prepare([strategy('diver'), strategy('other')], {
    startAt, snapshot: parseJson(stringifyJson(snapshotState(state))) as unknown as StateSnapshot,
    limits: { ...limits.limits, protections: state.limits.protections ?? [] },
  });
  run.engine.start();
  return run;
}

/** Lets the price fall by one each minute. */
function fall(run: Run, from: number, minutes: number): void {
  for (let minute = 1; minute <= minutes; minute++)
    run.engine.accept(sellingSol((100 - minute) * 1_000, from + minute * MINUTE), from + minute * MINUTE);
}

const fired = (state: EngineState): string[] =>
  [...state.protections.watches].filter(([, watch]) => watch.fired !== undefined).map(([key]) => key);

describe('a clock that was set back between two runs', () => {
  const drawdown = [protection({ kind: 'max-drawdown', limitPct: 20 }, { action: 'flatten' })];

  it('does not disable protections: prices count, and holdings are sold', () => {
    const run = goOn(left(drawdown), START);
    expect(run.engine.clockSetBackMs).toBe(AHEAD + MINUTE);
    fall(run, START, 19);
    expect(fired(run.state)).toEqual([]);
    fall(run, START + 19 * MINUTE, 20);
    expect(fired(run.state)).toEqual(['max-drawdown:strategy:1:diver']);
    expect(run.effects.length).toBeGreaterThan(0);
  });

  it('gives the same decisions in a replay', () => {
    const state = left(drawdown);
    const runs = [goOn(state, START), goOn(state, START)];
    for (const run of runs) fall(run, START, 30);
    expect(runs[1]!.engine.decisionHash).toBe(runs[0]!.engine.decisionHash);
    expect(runs[0]!.engine.decisions).toBeGreaterThan(0);
    expect(snapshotState(runs[1]!.state)).toEqual(snapshotState(runs[0]!.state));
  });

  it('stops no span: later times become the present', () => {
    const rules = [
      protection({ kind: 'cooldown', after: 'trade' }, { release: ELAPSED }),
      protection({ kind: 'dead-man', afterMs: 2 * HOUR }, { scope: 'global', release: { kind: 'cleared' } }),
      protection({ kind: 'unresolved-intent', afterMs: 30 * MINUTE }, { release: { kind: 'cleared' } }),
      protection({ kind: 'error-rate', failures: 1, withinMs: 20 * MINUTE }, { release: { kind: 'cleared' } }),
    ];
    const state = left(rules);
    const keep = approve(state, buy(), { at: FALSE_START, strategy: 'other' });
    for (const reached of ['building', 'signed', 'failed'] as const) apply(state, outcome(keep, reached), FALSE_START);
    const run = goOn(state, START, { limits: { maxSwaps: { perHour: 2 } } });
    expect(fired(run.state)).toEqual(['cooldown:strategy:1:diver', 'error-rate:strategy:1:other']);
    run.engine.accept(sellingSol(100_000, START + 20 * MINUTE), START + 20 * MINUTE);
    expect(fired(run.state)).toEqual(['cooldown:strategy:1:diver']);
    expect(verdictOn(run.state, buy(), { at: START + HOUR - 1, strategy: 'other' })).toBe('RATE_PER_HOUR');
    expect(verdictOn(run.state, buy(), { at: START + HOUR, strategy: 'other' })).toBeNull();
    expect(fired(run.state)).toEqual([]);
    run.engine.accept(sellingSol(100_000, START + 2 * HOUR), START + 2 * HOUR);
    expect(fired(run.state)).toEqual(['dead-man:global:1:']);
  });

  it('keeps losses and fees of a later day as those of the present day', () => {
    const rules = [
      protection({ kind: 'daily-loss', limit: usdc(50) }, { release: { kind: 'next-day' } }),
      protection(
        { kind: 'fee-budget', limitLamports: 5_000n as never }, { scope: 'global', release: { kind: 'next-day' } },
      ),
    ];
    const state = left(rules);
    price(state, 91, FALSE_START + 2 * MINUTE);
    const failing = approve(state, buy(), { at: FALSE_START + 2 * MINUTE, strategy: 'other' });
    for (const reached of ['building', 'signed'] as const)
      apply(state, outcome(failing, reached), FALSE_START + 2 * MINUTE);
    apply(state, outcome(failing, 'failed', { feeLamports: 5_000n as never }), FALSE_START + 2 * MINUTE);
    // From the evening before: the first run's day is tomorrow.
    const startAt = START - HOUR;
    const run = goOn(state, startAt);
    run.engine.accept(sellingSol(89_000, startAt + MINUTE), startAt + MINUTE);
    expect(fired(run.state)).toEqual(['fee-budget:global:1:', 'daily-loss:strategy:1:diver']);
    run.engine.accept(sellingSol(89_000, START), START);
    expect(fired(run.state)).toEqual([]);
    expect(takeChanges(run.state.protections)).toEqual([]);
  });

  it('changes nothing where the earlier run ended before, and works without protections', () => {
    const run = goOn(left(drawdown), FALSE_START + DAY);
    expect(run.engine.clockSetBackMs).toBe(0);
    expect(run.state.protections.now).toBe(FALSE_START + MINUTE);
    const state = stateUnder([]);
    approve(state, buy(), { at: FALSE_START });
    command(state, START, { name: 'report-presence' });
    expect(goOn(state, START).engine.clockSetBackMs).toBe(AHEAD);
  });
});
