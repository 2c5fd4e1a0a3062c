import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import type { Mint } from '../../src/market/token.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import { DEFAULT_PROTECTIONS } from '../../src/trading/protections/catalogue.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import type { EngineState, StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { quote } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { carry, command, DAY, HOUR, price, protection, resume, START, usdc } from './protected-states.ts';
import { apply, approve, buy, outcome, stateWith, strategySetup, verdictOn } from './states.ts';

type Kept = StateSnapshot | undefined;
type Limits = Partial<RiskLimits>;

const kept = (state: EngineState): StateSnapshot =>
  parseJson(stringifyJson(snapshotState(state))) as unknown as StateSnapshot;
const raw = (units: number): Amount => BigInt(units) as Amount;

/** Returns the state of a run of one manual swap, with prices. */
function manualState(
  name: string, limits: Limits, snapshot: Kept, budget: { mint: Mint; amount: Amount },
): EngineState {
  const state = stateWith({
    limits, ...(snapshot && { snapshot }), strategies: [{ ...strategySetup(name, { budget }), isManual: true }],
  });
  price(state, 100, START);
  apply(state, quote(FISH, USDC, { inAmount: 1_000_000n, outAmount: 1_000_000n, at: START }), START);
  return state;
}

/** Makes a manual swap in a run of its own, and returns the snapshot after it. */
function swap(
  name: string, limits: Limits, snapshot: Kept, from: readonly [Mint, number], to: readonly [Mint, number],
): StateSnapshot {
  const budget = { mint: from[0], amount: raw(from[1]) };
  const state = manualState(name, limits, snapshot, budget);
  carry(state, buy({ inputMint: budget.mint, outputMint: to[0], amount: budget.amount }), START, 'confirmed', {
    out: BigInt(to[1]), strategy: name,
  });
  return kept(state);
}

/** Returns the state of the daemon's next run. */
function daemon(limits: Limits, snapshot: Kept, usd = 100): EngineState {
  const state = stateWith({ limits, ...(snapshot && { snapshot }) });
  price(state, usd, START);
  return state;
}

/** Returns what is left with a book in it of an older version, or of a strategy that is no longer in the file. */
const gone = (mint: Mint, units: string): StateSnapshot =>
  ({ ...kept(stateWith()), books: { gone: { balances: { [mint]: units }, feesLamports: '5000', swaps: 1 } } });

const BUY_60 = buy({ amount: raw(60_000_000) });

describe('the holdings of manual swaps', () => {
  const limits: Limits = { maxExposure: usdc(100), maxPosition: new Map([[SOL.mint, usdc(100)]]) };

  it('are neither exposure nor position once they are swapped back, and their books are gone', () => {
    let left: Kept;
    for (const pair of ['1', '2']) {
      left = swap(`${pair}-there`, limits, left, [USDC.mint, 25_000_000], [SOL.mint, 250_000_000]);
      expect(daemon(limits, left).portfolio.held(SOL.mint)).toBe(250_000_000n);
      expect(verdictOn(daemon({ maxExposure: usdc(100) }, left), buy({ amount: raw(80_000_000) }), { at: START }))
        .toBe('EXPOSURE_EXCEEDS_MAX');
      left = swap(`${pair}-back`, limits, left, [SOL.mint, 250_000_000], [USDC.mint, 25_000_000]);
    }
    const state = daemon(limits, left);
    expect(state.portfolio.held(SOL.mint)).toBe(0n);
    expect(verdictOn(state, BUY_60, { at: START })).toBeNull();
    expect(Object.keys(snapshotState(state).books)).not.toContain('1-there');
    expect(state.portfolio.wallet).toEqual(stateWith().portfolio.wallet);
  });

  it('are sold in parts before the holdings of configured strategies', () => {
    const limits: Limits = {};
    const diver = daemon(limits, undefined);
    carry(diver, buy(), START, 'confirmed', { out: 250_000_000n });
    let left = swap('a', limits, kept(diver), [USDC.mint, 25_000_000], [SOL.mint, 250_000_000]);
    left = swap('b', limits, left, [USDC.mint, 25_000_000], [SOL.mint, 250_000_000]);
    left = swap('c', limits, left, [SOL.mint, 300_000_000], [USDC.mint, 30_000_000]);
    expect([
      left.books['a']?.balances[SOL.mint], left.books['b']?.balances[SOL.mint], left.books['diver']?.balances[SOL.mint],
    ]).toEqual(['200000000', undefined, '250000000']);
    expect(left.books['a']?.costs?.[SOL.mint]).toBe('20000000');
    left = swap('d', limits, left, [SOL.mint, 300_000_000], [USDC.mint, 30_000_000]);
    const state = daemon(limits, left);
    expect([state.portfolio.held(SOL.mint), state.portfolio.available('diver', SOL.mint)])
      .toEqual([250_000_000n, 250_000_000n]);
  });

  it('of a refused swap are empty', () => {
    const refused = kept(manualState('a', limits, undefined, { mint: SOL.mint, amount: raw(5_000_000_000) }));
    const state = daemon(limits, refused);
    expect(state.portfolio.held(SOL.mint)).toBe(0n);
    expect(verdictOn(state, BUY_60, { at: START })).toBeNull();
    expect(Object.keys(snapshotState(state).books)).toEqual(['diver']);
  });

  it('keep the reservation of an open swap until it is resolved', () => {
    const state = manualState('a', limits, undefined, usdc(25));
    const intent = approve(state, buy(), { at: START, strategy: 'a' });
    for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(intent, reached), START);
    const later = stateWith({ limits, snapshot: kept(state), open: [{ intent, state: 'unknown' }] });
    expect(later.portfolio.book('a').balances.get(USDC.mint)).toBe(25_000_000n);
    expect(Object.keys(snapshotState(later).books)).toEqual(['diver', 'a']);
    apply(later, outcome(intent, 'expired'), START);
    expect(Object.keys(snapshotState(daemon(limits, kept(later))).books)).toEqual(['diver']);
  });
});

describe('the holdings of removed strategies', () => {
  const limits: Limits = { maxExposure: usdc(100), maxPosition: new Map([[FISH.mint, usdc(100)]]) };

  it('count only as far as the wallet has more than the other strategies hold', () => {
    const none = daemon(limits, {
      ...gone(FISH.mint, '25000000'), wallet: { [USDC.mint]: '10000000000', [SOL.mint]: '10000000000' },
    });
    expect([none.portfolio.held(FISH.mint), verdictOn(none, BUY_60, { at: START })]).toEqual([0n, null]);

    const unpriced = daemon(limits, gone(FISH.mint, '25000000'));
    expect([unpriced.portfolio.held(FISH.mint), verdictOn(unpriced, BUY_60, { at: START })])
      .toEqual([1_000_000n, 'VALUE_UNKNOWN']);

    const partly = daemon(limits, {
      ...gone(SOL.mint, '1000000000'), wallet: { [USDC.mint]: '10000000000', [SOL.mint]: '300000000' },
    });
    expect(verdictOn(partly, buy({ amount: raw(70_000_001) }), { at: START })).toBe('EXPOSURE_EXCEEDS_MAX');
    expect(verdictOn(partly, buy({ amount: raw(70_000_000) }), { at: START })).toBeNull();
  });

  it('stay in their book, so that a returning strategy gets no second budget', () => {
    const state = daemon(limits, {
      ...gone(FISH.mint, '25000000'), wallet: { [USDC.mint]: '10000000000', [SOL.mint]: '10000000000' },
    });
    const back = stateWith({ snapshot: kept(state), strategies: [strategySetup('gone')] });
    expect(back.portfolio.available('gone', USDC.mint)).toBe(0n);
  });

  it('are no exposure while they are in the token of the budget', () => {
    const away = stateWith({
      limits: { maxExposure: { mint: SOL.mint, amount: raw(1_000_000_000) } }, snapshot: kept(stateWith()),
      strategies: [strategySetup('other')],
    });
    price(away, 100, START);
    expect(verdictOn(away, buy({ amount: raw(90_000_000) }), { at: START, strategy: 'other' })).toBeNull();
  });
});

describe('a run of a manual swap', () => {
  const limits: Limits = { protections: DEFAULT_PROTECTIONS };

  /** All in SOL, that fell from 100 to `usd`. */
  function fallen(usd: number, own = limits): EngineState {
    const state = daemon(own, undefined);
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 5_000_000_000n });
    price(state, usd, START + 20_000);
    return state;
  }

  it('triggers no global protection of equity, and does not change the global equity', () => {
    const before = fallen(80.8);
    expect(takeChanges(before.protections)).toEqual([]);
    const state = stateWith({
      limits, snapshot: kept(before), strategies: [{ ...strategySetup('a', { budget: usdc(25) }), isManual: true }],
    });
    price(state, 80.8, START + 30_000);
    carry(state, buy(), START + 30_000, 'confirmed', {
      out: BigInt(Math.floor((25 / 80.8) * 0.8 * 1e9)), strategy: 'a',
    });
    price(state, 200, START + HOUR);
    expect(takeChanges(state.protections)).toEqual([]);
    const [found, left] = [kept(before), kept(state)];
    expect(left.protections?.equity['']).toEqual(found.protections?.equity['']);
    // The daemon's next check is the same as without the swap.
    const next = stateWith({ limits, snapshot: left });
    price(next, 79.9, START + 2 * HOUR);
    expect(takeChanges(next.protections).map(({ code, subject }) => `${code} ${subject}`))
      .toEqual(['DRAWDOWN_EXCEEDS_MAX ']);
  });

  it('ignores a global limit that was set since; the daemon’s next check applies it', () => {
    const tighter = { protections: [protection({ kind: 'max-drawdown', limitPct: 10 }, { scope: 'global' })] };
    const snapshot =
      kept(fallen(85, { protections: [protection({ kind: 'max-drawdown', limitPct: 20 }, { scope: 'global' })] }));
    expect(verdictOn(manualState('a', tighter, snapshot, usdc(25)), buy(), { at: START + HOUR, strategy: 'a' }))
      .toBeNull();
    const next = daemon(tighter, snapshot, 85);
    expect(takeChanges(next.protections).map(({ code }) => code)).toEqual(['DRAWDOWN_EXCEEDS_MAX']);
  });

  it('needs no global equity', () => {
    expect(verdictOn(manualState('a', limits, undefined, usdc(25)), buy(), { at: START, strategy: 'a' })).toBeNull();
  });

  it('is refused while a global drawdown is triggered, until an operator resumes', () => {
    const halting =
      { protections: [protection({ kind: 'max-drawdown', limitPct: 20 }, { scope: 'global', action: 'halt' })] };
    const state = manualState('a', halting, kept(fallen(70, halting)), usdc(25));
    expect(verdictOn(state, buy(), { at: START + HOUR, strategy: 'a' })).toBe('TRADING_HALTED');
    resume(state, START + HOUR);
    expect(verdictOn(state, buy(), { at: START + HOUR, strategy: 'a' })).toBeNull();
  });

  it('releases no protection that it does not update', () => {
    const cleared = { protections: [
      protection({ kind: 'max-drawdown', limitPct: 20 }, { scope: 'global', release: { kind: 'cleared' } }),
    ] };
    const state = manualState('a', cleared, kept(fallen(70, cleared)), usdc(25));
    price(state, 500, START + DAY);
    expect(verdictOn(state, buy(), { at: START + DAY, strategy: 'a' })).toBe('DRAWDOWN_EXCEEDS_MAX');
  });

  it('is subject to its own protections and to those of all swaps together', () => {
    const own = { protections: [
      protection({ kind: 'max-drawdown', limitPct: 20 }),
      protection({ kind: 'fee-budget', limitLamports: 1n as never }, { scope: 'global' }),
    ] };
    const state = manualState('a', own, undefined, usdc(25));
    carry(state, buy(), START, 'confirmed', { out: 100_000_000n, fee: 5_000n, strategy: 'a' });
    command(state, START + 1, { name: 'report-presence' });
    expect(takeChanges(state.protections).map(({ code, subject }) => `${code} ${subject}`).sort())
      .toEqual(['DRAWDOWN_EXCEEDS_MAX a', 'FEE_BUDGET_EXCEEDED ']);
  });
});
