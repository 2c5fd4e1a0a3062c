import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import type { StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { apply, approve, buy, confirm, outcome, stateWith, strategySetup, verdictOn, WALLET } from './states.ts';

/** Returns a snapshot as a later process finds it: written and read. */
function throughDisk(snapshot: StateSnapshot): StateSnapshot {
  return parseJson(stringifyJson(snapshot)) as unknown as StateSnapshot;
}

describe('a restart', () => {
  const limits = { maxSwaps: { perHour: 2 } };

  it('restores balances, fees, keys, counters, approvals and the trading state', () => {
    const state = stateWith({ limits });
    confirm(state, approve(state, buy({ key: 'slot-1' }), { at: 1_000 }), 166_000_000n);
    apply(state, { kind: 'command', name: 'set-trading-state', state: 'reduce-only', reason: 'a test' });
    const saved = throughDisk(snapshotState(state));

    const later = stateWith({ limits, snapshot: saved });
    expect(snapshotState(later)).toEqual(snapshotState(state));
    expect(later.trading).toBe('reduce-only');
    expect(later.portfolio.available('diver', USDC.mint)).toBe(475_000_000n);
    expect(later.portfolio.available('diver', SOL.mint)).toBe(166_000_000n);
    expect(later.portfolio.wallet).toEqual(state.portfolio.wallet);

    apply(later, { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a test' });
    expect(verdictOn(later, buy({ key: 'slot-1' }), { at: 2_000 })).toBe('KEY_REPEATED');
    const second = approve(later, buy({ key: 'slot-2' }), { at: 3_000 });
    expect(second.id).toBe('diver-2');
    apply(later, outcome(second, 'abandoned'), 3_000);
    expect(verdictOn(later, buy(), { at: 4_000 })).toBe('RATE_PER_HOUR');
    expect(verdictOn(later, buy(), { at: 3_601_000 })).toBeNull();
  });

  it('does not add a budget a second time, however large the configured one', () => {
    const state = stateWith();
    confirm(state, approve(state, buy({ amount: 'all' })), 1n);
    const later =
      stateWith({ snapshot: snapshotState(state), strategies: [strategySetup('diver'), strategySetup('newcomer')] });
    expect(later.portfolio.available('diver', USDC.mint)).toBe(0n);
    expect(later.portfolio.available('newcomer', USDC.mint)).toBe(500_000_000n);
  });

  it('keeps the reservations of open intents until they are resolved', () => {
    const state = stateWith();
    const intent = approve(state, buy({ amount: 400_000_000n as Amount }));
    for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(intent, reached));
    const later = stateWith({ snapshot: snapshotState(state), open: [{ intent, state: 'unknown' }] });
    expect(later.portfolio.available('diver', USDC.mint)).toBe(100_000_000n);
    expect(verdictOn(later, buy())).toBe('INTENT_OPEN_FOR_MINT');
    apply(later, outcome(intent, 'expired'));
    expect(later.portfolio.available('diver', USDC.mint)).toBe(500_000_000n);
    expect(approve(later, buy()).id).toBe('diver-2');
  });

  it('shares nothing between two runs from one snapshot', () => {
    const snapshot = snapshotState(stateWith());
    const first = stateWith({ snapshot });
    const second = stateWith({ snapshot });
    confirm(first, approve(first, buy({ key: 'slot-1' })), 7n);
    expect(second.portfolio.wallet).toEqual(WALLET);
    expect(approve(second, buy({ key: 'slot-1' })).id).toBe('diver-1');
  });

  it('assumes that the service accepts the key until it refuses it', () => {
    const state = stateWith();
    // Only time advances.
    const kept = (): StateSnapshot => ({ ...snapshotState(state), protections: undefined });
    const before = kept();
    apply(state, { kind: 'command', name: 'set-service-access', access: 'refused', reason: 'a test' });
    expect(verdictOn(state, buy())).toBe('SERVICE_UNAUTHORIZED');
    expect(kept()).toEqual(before);
    expect(verdictOn(stateWith({ snapshot: throughDisk(snapshotState(state)) }), buy())).toBeNull();
  });

  it('keeps the holdings of a removed strategy, and reuses no intent id when it returns', () => {
    const state = stateWith({ strategies: [strategySetup('diver'), strategySetup('other')] });
    confirm(state, approve(state, buy()), 166_000_000n);
    const without = stateWith({ snapshot: throughDisk(snapshotState(state)), strategies: [strategySetup('other')] });
    expect(without.portfolio.held(SOL.mint)).toBe(166_000_000n);
    const back = stateWith({ snapshot: throughDisk(snapshotState(without)), strategies: [strategySetup('diver')] });
    expect(back.portfolio.available('diver', SOL.mint)).toBe(166_000_000n);
    expect(back.portfolio.available('diver', USDC.mint)).toBe(475_000_000n);
    expect(approve(back, buy()).id).toBe('diver-2');
  });

  it('settles open intents of a strategy that is no longer configured', () => {
    const state = stateWith();
    const intent = approve(state, buy());
    for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(intent, reached));
    const later = stateWith({
      snapshot: snapshotState(state), strategies: [strategySetup('other')], open: [{ intent, state: 'unknown' }],
    });
    expect(later.portfolio.unreserved(USDC.mint)).toBe(WALLET.get(USDC.mint)! - intent.amountIn);
    apply(later, outcome(intent, 'expired'));
    expect(later.portfolio.unreserved(USDC.mint)).toBe(WALLET.get(USDC.mint));
  });
});
