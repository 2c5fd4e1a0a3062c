import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import type { EngineState, StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { quote } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import {
  carry, command, DAY, ELAPSED, HOUR, MINUTE, price, protection, restarted, resume, START, stateUnder, usdc,
} from './protected-states.ts';
import { apply, approve, buy, outcome, strategySetup, verdictOn } from './states.ts';

/** Returns the triggers and releases since the last call, each with its action. */
function changes(state: EngineState): string[] {
  return takeChanges(state.protections).map(({ change, protection: { action } }) => `${change} ${action}`);
}

/**
 * Puts all into SOL, then lets its price fall by 6 % in each of `hours`, with a check at the end of the hour. `between`
 * runs after each check.
 */
function slide(
  state: EngineState, hours: number, between: (state: EngineState) => EngineState = (same) => same,
): EngineState {
  price(state, 100, START);
  carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 5_000_000_000n });
  let present = state;
  for (let hour = 0; hour < hours; hour++) {
    const at = START + hour * (HOUR + MINUTE) + MINUTE;
    price(present, 100 * 0.94 ** (hour + 1), at);
    present = between(present);
    price(present, 100 * 0.94 ** (hour + 1), at + HOUR);
    present = between(present);
  }
  return present;
}

const budget = (lamports: bigint): Protection['trigger'] =>
  ({ kind: 'fee-budget', limitLamports: lamports as Lamports });

describe('several protections of one kind and scope', () => {
  const drawdowns: readonly Protection[] = [
    protection({ kind: 'max-drawdown', limitPct: 5 }, { release: ELAPSED }),
    protection({ kind: 'max-drawdown', limitPct: 20 }, { action: 'halt' }),
  ];
  const fallen = [
    'fired deny', 'released deny', 'fired deny', 'released deny', 'fired deny', 'released deny', 'fired deny',
    'fired halt', 'released deny',
  ];

  it('measure drawdowns from their own peaks: the reset of one does not reset the other', () => {
    const state = stateUnder(drawdowns);
    slide(state, 4);
    expect(changes(state)).toEqual(fallen);
    expect(verdictOn(state, buy(), { at: START + DAY })).toBe('TRADING_HALTED');
  });

  it('keep their own peaks over restarts', () => {
    const seen: string[] = [];
    slide(stateUnder(drawdowns), 4, (state) => {
      seen.push(...changes(state));
      return restarted(state);
    });
    expect(seen).toEqual(fallen);
  });

  it('each raise their own peak', () => {
    const state = slide(stateUnder(drawdowns), 1);
    expect(changes(state)).toEqual(['fired deny', 'released deny']);
    price(state, 98, START + 3 * HOUR);
    price(state, 93.2, START + 4 * HOUR);
    expect(changes(state)).toEqual([]);
    price(state, 93.1, START + 5 * HOUR);
    expect(changes(state)).toEqual(['fired deny']);
  });

  it('keep their drawdowns where the set of strategies changes', () => {
    const rules = [
      protection({ kind: 'max-drawdown', limitPct: 2.5 }, { scope: 'global', release: ELAPSED }),
      protection({ kind: 'max-drawdown', limitPct: 90 }, { scope: 'global' }),
    ];
    const state = slide(stateUnder(rules), 1);
    expect(changes(state)).toEqual(['fired deny', 'released deny']);
    price(state, 92, START + 2 * HOUR);
    const alone = stateUnder(rules, { snapshot: snapshotState(state), strategies: [strategySetup('diver')] });
    price(alone, 92, START + 2 * HOUR + MINUTE);
    const { value, peak, resetHeights } = alone.protections.equity.get('')!;
    expect([value, peak, [...resetHeights.values()].map((heights) => heights.peak)])
      .toEqual([460_000_000n, (1_000n * 460_000_000n) / 960n, [(970n * 460_000_000n) / 960n]]);
  });

  it('measure the daily loss from their own reset, and from midnight on the next day', () => {
    const state = stateUnder([
      protection({ kind: 'daily-loss', limit: usdc(25) }, { release: ELAPSED }),
      protection({ kind: 'daily-loss', limit: usdc(100) }, { action: 'halt', release: { kind: 'next-day' } }),
    ]);
    const later = slide(state, 4, restarted);
    expect(later.protections.watches.get('daily-loss:strategy:2:diver')?.fired?.reason).toContain('109.625 USDC');
    price(later, 78, START + DAY);
    expect(changes(later)).toEqual(['released halt']);
    price(later, 73.5, START + DAY + MINUTE);
    expect(changes(later)).toEqual([]);
    price(later, 73, START + DAY + 2 * MINUTE);
    expect(changes(later)).toEqual(['fired deny']);
  });

  it('count fees separately, over restarts too', () => {
    let state = stateUnder([
      protection(budget(10_000n), { release: ELAPSED }),
      protection(budget(25_000n), { action: 'reduce-only', release: { kind: 'next-day' } }),
    ]);
    const seen: string[] = [];
    for (let trip = 0; trip < 3; trip++) {
      carry(state, buy(), START + 2 * trip * HOUR, 'failed', { feeLamports: 9_999n as Lamports });
      expect(changes(state)).toEqual(trip < 2 ? [] : ['fired reduce-only']);
      if (trip === 2) break;
      const intent = approve(state, buy(), { at: START + 2 * trip * HOUR });
      for (const reached of ['building', 'signed'] as const)
        apply(state, outcome(intent, reached), START + 2 * trip * HOUR);
      apply(state, outcome(intent, 'failed', { feeLamports: 1n as Lamports }), START + 2 * trip * HOUR);
      price(state, 100, START + 2 * trip * HOUR + HOUR);
      seen.push(...changes(state));
      state = restarted(state);
    }
    expect(seen).toEqual(['fired deny', 'released deny', 'fired deny', 'released deny']);
    price(state, 100, START + DAY);
    expect(changes(state)).toEqual(['released reduce-only']);
    carry(state, buy(), START + DAY, 'failed', { feeLamports: 10_000n as Lamports });
    expect(changes(state)).toEqual(['fired deny']);
  });

  it('count unknown outcomes separately, over restarts too', () => {
    let state = stateUnder([
      protection({ kind: 'blind-execution', unknowns: 1 }, { release: ELAPSED }),
      protection({ kind: 'blind-execution', unknowns: 2 }, { action: 'reduce-only' }),
    ]);
    const seen: string[] = [];
    for (const [index, proposal] of [buy(), buy({ inputMint: SOL.mint, outputMint: FISH.mint, amount: 1n as Amount })]
        .entries()) {
      const at = START + 2 * index * HOUR;
      if (index === 1) state.portfolio.book('diver').balances.set(SOL.mint, 10n as Amount);
      const intent = approve(state, proposal, { at });
      for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(intent, reached), at);
      seen.push(...changes(state));
      price(state, 100, at + HOUR);
      seen.push(...changes(state));
      state = restarted(state);
    }
    expect(seen).toEqual(['fired deny', 'released deny', 'fired deny', 'fired reduce-only', 'released deny']);
  });

  it('forget missing amounts separately; the state forgets them after the last one', () => {
    const state = stateUnder([
      protection({ kind: 'reconciliation-mismatch' }, { scope: 'global', release: ELAPSED }),
      protection({ kind: 'reconciliation-mismatch' }, {
        scope: 'global', action: 'reduce-only', release: { kind: 'cleared' },
      }),
      protection({ kind: 'reconciliation-mismatch' }, { scope: 'token', action: 'halt' }),
    ]);
    command(state, START, { name: 'adjust-wallet', mint: USDC.mint, change: '-500', cause: 'mismatch' });
    expect(changes(state)).toEqual(['fired deny', 'fired reduce-only', 'fired halt']);
    price(state, 100, START + HOUR);
    expect(changes(state)).toEqual(['released deny']);
    const later = restarted(state);
    price(later, 100, START + 2 * HOUR);
    expect(changes(later)).toEqual([]);
    resume(later, START + 2 * HOUR);
    expect(changes(later)).toEqual(['released halt']);
    // Of later ones all speak again.
    command(later, START + 3 * HOUR, { name: 'adjust-wallet', mint: USDC.mint, change: '-1', cause: 'mismatch' });
    expect(changes(later)).toEqual(['fired deny', 'fired halt']);

    const alone = stateUnder([protection({ kind: 'reconciliation-mismatch' }, { scope: 'global' })]);
    command(alone, START, { name: 'adjust-wallet', mint: USDC.mint, change: '-500', cause: 'mismatch' });
    resume(alone, START);
    expect([...alone.protections.missing]).toEqual([]);
  });
});

describe('a snapshot of an older version', () => {
  it('is restored: counts become events, and heights apply to every protection', () => {
    const rules = [
      protection({ kind: 'blind-execution', unknowns: 2 }, { scope: 'global', release: ELAPSED }),
      protection({ kind: 'max-drawdown', limitPct: 10 }, { release: ELAPSED }),
      protection({ kind: 'reconciliation-mismatch' }, { scope: 'global', release: ELAPSED }),
    ];
    const state = stateUnder(rules);
    price(state, 100, START);
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 5_000_000_000n });
    price(state, 80, START + MINUTE);
    command(state, START + MINUTE, { name: 'adjust-wallet', mint: USDC.mint, change: '-500', cause: 'mismatch' });
    price(state, 80, START + 2 * HOUR);
    expect(changes(state)).toEqual(['fired deny', 'fired deny', 'released deny', 'released deny']);
    const { protections, ...rest } = snapshotState(state);
    const old = {
      ...rest,
      protections: {
        ...protections!, missing: { [USDC.mint]: '7' },
        watches: protections!.watches.map(({ heights: _heights, feesBefore: _fees, ...watch }) => watch),
        subjects: protections!.subjects.map((subject) =>
          ({ ...subject, unknowns: subject.scope === 'global' ? 2 : 0 })),
      },
    };
    const later = stateUnder(rules, { snapshot: parseJson(stringifyJson(old)) as unknown as StateSnapshot });
    apply(later, quote(FISH, USDC, { inAmount: 1n, outAmount: 1n, at: START + 2 * HOUR }), START + 2 * HOUR);
    command(later, START + 2 * HOUR, { name: 'report-presence' });
    expect(takeChanges(later.protections).map(({ code, reason }) => `${code} ${reason}`)).toEqual([
      'DRAWDOWN_EXCEEDS_MAX equity is 20 % below its peak, allowed are less than 10 %',
      'EXECUTION_BLIND the outcomes of the latest 2 swaps are unknown',
      'LEDGER_MISMATCH the chain has 0.000007 USDC less than the ledger',
    ]);
    expect(snapshotState(restarted(later))).toEqual(snapshotState(later));
  });
});
