import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import { GannetError } from '../../src/core/errors.ts';
import type { OpenIntent } from '../../src/trading/executor.ts';
import type { Protection } from '../../src/trading/limits.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import type { EngineState, StateSnapshot, StrategySetup } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { quote } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { carry, HOUR, price, protection, resume, SELL, START, usdc } from './protected-states.ts';
import { apply, approve, buy, outcome, stateWith, strategySetup, verdictOn } from './states.ts';

const GLOBAL = { scope: 'global' } as const;
const PROTECTIONS: readonly Protection[] = [
  protection({ kind: 'max-drawdown', limitPct: 20 }), protection({ kind: 'max-drawdown', limitPct: 20 }, GLOBAL),
  protection({ kind: 'daily-loss', limit: usdc(110) }), protection({ kind: 'daily-loss', limit: usdc(110) }, GLOBAL),
];
const limits = { protections: PROTECTIONS };

function first(): EngineState {
  const state = stateWith({ limits });
  price(state, 100, START);
  return state;
}

/** Returns the state of a later process with another budget. */
function later(state: EngineState, budget: StrategySetup['budget'], { change = (same) => same, open = [] }: {
  change?: (saved: StateSnapshot) => StateSnapshot; open?: readonly OpenIntent[];
} = {}): EngineState {
  const snapshot = change(parseJson(stringifyJson(snapshotState(state))) as unknown as StateSnapshot);
  return stateWith({ limits, snapshot, strategies: [strategySetup('diver', { budget })], open });
}

const spendable = (state: EngineState): bigint => state.portfolio.available('diver', USDC.mint);
const equity = (state: EngineState, name: string): unknown => {
  const { value, peak, dayStart } = state.protections.equity.get(name)!;
  return [value, peak, dayStart].map((units) => Number(units) / 1e6);
};
const fired = (state: EngineState): string[] =>
  takeChanges(state.protections).map(({ code, subject }) => `${code} ${subject}`);

describe('a budget that was changed between two runs', () => {
  it('takes a decrease back before the first proposal', () => {
    const state = later(first(), usdc(10));
    price(state, 100, START + HOUR);
    expect(spendable(state)).toBe(10_000_000n);
    expect(verdictOn(state, buy(), { at: START + HOUR })).toBe('BUDGET_EXCEEDED');
    expect(verdictOn(state, buy({ amount: 10_000_000n as never }), { at: START + HOUR })).toBeNull();
  });

  it('adds an increase once over all restarts, and keeps profits and losses', () => {
    const state = first();
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 5_000_000_000n });
    carry(state, SELL, START, 'confirmed', { out: 450_000_000n });
    const raised = later(state, usdc(700));
    expect(spendable(raised)).toBe(650_000_000n);
    expect(spendable(later(raised, usdc(700)))).toBe(650_000_000n);
    expect(spendable(later(later(raised, usdc(700)), usdc(500)))).toBe(450_000_000n);
  });

  it('changes neither the wallet nor the drawdown in per cent nor today’s loss', () => {
    const state = first();
    carry(state, buy({ amount: 100_000_000n as never }), START, 'confirmed', { out: 1_000_000_000n });
    price(state, 40, START + HOUR);
    expect([equity(state, 'diver'), equity(state, '')]).toEqual([[440, 500, 500], [440, 500, 500]]);
    for (const [amount, heights] of [[390, [330, 375, 390]], [940, [880, 1_000, 940]]] as const) {
      const changed = later(state, usdc(amount));
      expect(changed.portfolio.wallet).toEqual(state.portfolio.wallet);
      price(changed, 40, START + 2 * HOUR);
      expect([equity(changed, 'diver'), equity(changed, '')]).toEqual([heights, heights]);
      expect(fired(changed)).toEqual([]);
    }
    // A protection triggers with the change exactly where it triggers without it.
    const lowered = later(state, usdc(390));
    price(lowered, 9, START + 2 * HOUR);
    expect(fired(lowered)).toEqual(['DRAWDOWN_EXCEEDS_MAX ', 'DRAWDOWN_EXCEEDS_MAX diver']);
  });

  it('is no loss to a protection after its reset', () => {
    const state = first();
    carry(state, buy({ amount: 200_000_000n as never }), START, 'confirmed', { out: 2_000_000_000n });
    price(state, 50, START + HOUR);
    expect(fired(state)).toEqual(['DRAWDOWN_EXCEEDS_MAX ', 'DRAWDOWN_EXCEEDS_MAX diver']);
    resume(state, START + HOUR);
    expect(fired(state)).toEqual(['DRAWDOWN_EXCEEDS_MAX ', 'DRAWDOWN_EXCEEDS_MAX diver']);
    const lowered = later(state, usdc(200));
    price(lowered, 50, START + 2 * HOUR);
    expect(fired(lowered)).toEqual([]);
  });

  it('is owed as far as it is not free, and taken as it becomes free, over restarts too', () => {
    const state = first();
    carry(state, buy({ amount: 475_000_000n as never }), START, 'confirmed', { out: 4_750_000_000n });
    let lowered = later(state, usdc(100));
    price(lowered, 100, START + HOUR);
    expect([spendable(lowered), lowered.portfolio.book('diver').owed]).toEqual([0n, 375_000_000n]);
    lowered = later(lowered, usdc(100));
    price(lowered, 100, START + HOUR);
    expect([spendable(lowered), lowered.portfolio.book('diver').owed]).toEqual([0n, 375_000_000n]);
    carry(lowered, SELL, START + HOUR, 'confirmed', { out: 480_000_000n });
    expect([spendable(lowered), lowered.portfolio.book('diver').owed]).toEqual([105_000_000n, 0n]);
    expect(equity(lowered, 'diver')).toEqual([105, 105, 100]);
    expect(fired(lowered)).toEqual([]);
  });

  it('does not touch the reservation of a swap under way', () => {
    const state = first();
    const intent = approve(state, buy({ amount: 400_000_000n as never }), { at: START });
    for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(intent, reached), START);
    const lowered = later(state, usdc(10), { open: [{ intent, state: 'unknown' }] });
    expect([spendable(lowered), lowered.portfolio.book('diver').balances.get(USDC.mint)]).toEqual([0n, 400_000_000n]);
    apply(lowered, outcome(intent, 'expired'), START);
    expect([spendable(lowered), lowered.portfolio.book('diver').balances.get(USDC.mint)])
      .toEqual([10_000_000n, 10_000_000n]);
  });

  it('applies from now on where an older version did not save it', () => {
    const state = first();
    const taken = later(state, usdc(600), { change: (saved) =>
      ({ ...saved, books: { diver: { balances: { [USDC.mint]: '475000000' }, feesLamports: '0', swaps: 1 } } }) });
    expect(spendable(taken)).toBe(475_000_000n);
    expect(spendable(later(taken, usdc(650)))).toBe(525_000_000n);
  });

  it('applies where its strategy was absent for a run', () => {
    const away = stateWith({ snapshot: snapshotState(first()), strategies: [strategySetup('other')] });
    expect(spendable(later(away, usdc(450)))).toBe(450_000_000n);
  });

  it('in another token, or without one, is refused while the strategy holds something or has an open swap', () => {
    const state = first();
    carry(state, buy(), START, 'confirmed', { out: 250_000_000n });
    for (const [budget, words] of [
      [{ mint: SOL.mint, amount: 1n as never }, 'one in SOL'], [undefined, 'none'],
    ] as const) {
      expect(() => later(state, budget)).toThrow(GannetError);
      expect(() => later(state, budget))
        .toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(words) }));
      expect(() => later(state, budget)).toThrow('diver had its budget in USDC and still holds 475 USDC, 0.25 SOL');
    }
    const spent = first();
    const intent = approve(spent, buy({ amount: 'all' }), { at: START });
    spent.portfolio.book('diver').balances.clear();
    expect(() => later(spent, { mint: SOL.mint, amount: 1n as never }, { open: [{ intent, state: 'unknown' }] }))
      .toThrow('has a swap under way');
  });

  it('may be in another token where nothing is held, and then starts in full', () => {
    const state = first();
    apply(state, quote(FISH, USDC, { inAmount: 1n, outAmount: 1n }), START);
    carry(state, buy({ amount: 'all', outputMint: FISH.mint }), START, 'confirmed', { out: 1n });
    carry(state, { ...SELL, inputMint: FISH.mint }, START, 'confirmed', { out: 0n });
    expect(state.portfolio.book('diver').balances.size).toBe(0);
    const changed = later(state, { mint: SOL.mint, amount: 2_000_000_000n as never });
    expect([...changed.portfolio.book('diver').balances]).toEqual([[SOL.mint, 2_000_000_000n]]);
  });

  it('is added to a strategy that had none', () => {
    const watcher = stateWith({ strategies: [strategySetup('diver', { budget: undefined })] });
    expect(spendable(later(watcher, usdc(50)))).toBe(50_000_000n);
  });
});
