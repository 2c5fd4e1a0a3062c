import { describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Mint } from '../../src/market/token.ts';
import type { DenialCode } from '../../src/trading/limits.ts';
import { DENIALS } from '../../src/trading/limits.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { retryDenial } from '../../src/trading/risk/rules.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { book, quote, sellingSol, stats, trouble } from '../market/events.ts';
import { FISH, KELP, SOL, USDC } from '../market/tokens.ts';
import {
  apply, approve, BUDGET, buy, confirm, fillOf, outcome, propose, stateWith, strategySetup, verdictOn, WALLET,
} from './states.ts';

const amount = (value: bigint): Amount => value as Amount;
const met = new Set<string>();

/** Expects a denial under a code, with words for people and without a trace in the state. */
function expectDenied(
  state: EngineState, code: DenialCode, proposal = buy(), where: { strategy?: string; at?: number } = {},
): void {
  const before = [state.intents.size, [...state.keys].length, state.swapRate.times.length];
  const ruling = propose(state, proposal, where);
  expect(ruling.decision).toMatchObject({ verdict: 'denied', code });
  expect(ruling.denial!.reason).not.toBe('');
  expect(ruling.effect).toBeUndefined();
  expect([state.intents.size, [...state.keys].length, state.swapRate.times.length]).toEqual(before);
  met.add(code);
}

function set(state: EngineState, trading: EngineState['trading']): void {
  apply(state, { kind: 'command', name: 'set-trading-state', state: trading, reason: 'a test' });
}

function access(state: EngineState, granted: EngineState['serviceAccess']): void {
  apply(state, { kind: 'command', name: 'set-service-access', access: granted, reason: 'a test' });
}

const usdc = (whole: bigint) => ({ mint: USDC.mint, amount: amount(whole * 1_000_000n) });
const into = (mint: Mint, whole = 25n) => buy({ outputMint: mint, amount: amount(whole * 1_000_000n) });
const backFrom = (mint: Mint) => buy({ inputMint: mint, outputMint: USDC.mint, amount: 'all' });
const vet = (state: EngineState, mint: Mint, ...findings: string[]) => {
  apply(state, { kind: 'command', name: 'judge-token', mint, findings, reason: 'a test' });
};

describe('a token that the configuration does not name', () => {
  const NEW = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
  const OTHER = 'Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4' as Mint;
  const limits = {
    tokenSafety: {
      trusted: new Set([SOL.mint, USDC.mint]), minLiquidityUsd: 0, minOrganicScore: 0, minHolders: 0,
      maxTopHoldersPct: 100, maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set<string>(), validForMs: 600_000,
    },
    discovered: { perToken: usdc(50n), total: usdc(80n), minAgeMs: 0, mustBeVerified: true },
  };
  const vetted = (): EngineState => {
    const state = stateWith({ limits });
    for (const mint of [NEW, OTHER]) vet(state, mint);
    return state;
  };

  it('is not bought without a section that allows it', () => {
    const state = stateWith({ limits: { tokenSafety: limits.tokenSafety } });
    vet(state, NEW);
    expectDenied(state, 'PROPOSAL_INVALID', into(NEW));
  });

  it('is bought only after a check, and only where the check found nothing', () => {
    const state = stateWith({ limits });
    expectDenied(state, 'TOKEN_UNVETTED', into(NEW));
    vet(state, NEW, 'TOKEN_TOO_YOUNG');
    expectDenied(state, 'TOKEN_UNSAFE', into(NEW));
    vet(state, NEW);
    expect(verdictOn(state, into(NEW))).toBeNull();
    expectDenied(stateWith({ limits: { discovered: limits.discovered } }), 'TOKEN_UNVETTED', into(NEW));
  });

  it('is bought for what it may cost, and so are all together, with what is under way', () => {
    const state = vetted();
    confirm(state, approve(state, into(NEW, 40n)), 1n);
    expectDenied(state, 'DISCOVERED_TOKEN_EXCEEDS_MAX', into(NEW, 11n));
    // What it is worth now does not matter: a loss gives no room.
    apply(state, quote({ ...USDC, mint: NEW, symbol: 'NEW' }, USDC, { inAmount: 1n, outAmount: 1n, at: 1_000 }));
    expectDenied(state, 'DISCOVERED_TOKEN_EXCEEDS_MAX', into(NEW, 11n));
    expectDenied(state, 'DISCOVERED_TOTAL_EXCEEDS_MAX', into(OTHER, 41n));
    const underWay = approve(state, into(OTHER, 30n));
    expect(verdictOn(state, buy({ amount: amount(1n) }))).toBe('INTENT_OPEN_FOR_MINT');
    expect(retryDenial(state, underWay, 1_000)).toBeUndefined();
    confirm(state, underWay, 1n);
    expectDenied(state, 'DISCOVERED_TOTAL_EXCEEDS_MAX', into(OTHER, 11n));
    expect(verdictOn(state, buy())).toBeNull();
  });

  it('is sold by a strategy that holds it, whatever was found, and after the section is gone', () => {
    const state = vetted();
    expectDenied(state, 'PROPOSAL_INVALID', backFrom(NEW));
    confirm(state, approve(state, into(NEW)), 1_000n);
    vet(state, NEW, 'TOKEN_UNSELLABLE');
    const snapshot = snapshotState(state);
    expect(verdictOn(state, backFrom(NEW))).toBeNull();
    expect(verdictOn(stateWith({ snapshot }), backFrom(NEW))).toBeNull();
  });

  it('is sold into the token of the budget alone', () => {
    const state = vetted();
    confirm(state, approve(state, into(NEW)), 1_000n);
    for (const outputMint of [SOL.mint, OTHER])
      expectDenied(state, 'PROPOSAL_INVALID', buy({ inputMint: NEW, outputMint, amount: amount(1n) }));
  });
});

describe('risk refuses', () => {
  it('everything while halted, until an operator resumes', () => {
    const state = stateWith();
    set(state, 'halted');
    expectDenied(state, 'TRADING_HALTED');
    set(state, 'active');
    expect(verdictOn(state, buy())).toBeNull();
  });

  it('everything except exits in reduce-only', () => {
    const state = stateWith();
    confirm(state, approve(state, buy()), 160_000_000n);
    set(state, 'reduce-only');
    expectDenied(state, 'TRADING_REDUCE_ONLY');
    expect(verdictOn(state, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }))).toBeNull();
  });

  it('everything while the service refuses the key, exits too, until the key is accepted', () => {
    const state = stateWith();
    confirm(state, approve(state, buy()), 160_000_000n);
    access(state, 'refused');
    expectDenied(state, 'SERVICE_UNAUTHORIZED');
    expectDenied(state, 'SERVICE_UNAUTHORIZED', buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }));
    expect(state.trading).toBe('active');
    access(state, 'granted');
    expect(verdictOn(state, buy())).toBeNull();
  });

  it('while the service refuses the region, address or key, exits too, and only until it takes them again', () => {
    const state = stateWith();
    confirm(state, approve(state, buy()), 160_000_000n);
    access(state, 'forbidden');
    expectDenied(state, 'SERVICE_FORBIDDEN');
    expectDenied(state, 'SERVICE_FORBIDDEN', buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }));
    access(state, 'granted');
    expect(verdictOn(state, buy())).toBeNull();
  });

  it('with the code of an operator’s halt before that of the service, which does not end the halt', () => {
    const state = stateWith();
    set(state, 'halted');
    access(state, 'refused');
    expectDenied(state, 'TRADING_HALTED');
    access(state, 'granted');
    expectDenied(state, 'TRADING_HALTED');
  });

  it.each([
    ['a swap into itself', buy({ outputMint: USDC.mint })],
    ['a token that is not configured', buy({ outputMint: '9wFFyRfZBsuAha4YcuxcXLKwMxJR43S7fPfQLusDBzvT' as Mint })],
    ['an input that is not configured', buy({ inputMint: '9wFFyRfZBsuAha4YcuxcXLKwMxJR43S7fPfQLusDBzvT' as Mint })],
    ['nothing', buy({ amount: amount(0n) })],
    ['less than nothing', buy({ amount: amount(-1n) })],
    ['no fraction', buy({ amount: { fraction: 0 } })],
    ['a fraction that is no number', buy({ amount: { fraction: Number.NaN } })],
    ['a negative fraction', buy({ amount: { fraction: -0.5 } })],
    ['all of nothing', buy({ inputMint: KELP.mint, amount: 'all' })],
  ])('%s', (_what, proposal) => {
    expectDenied(stateWith(), 'PROPOSAL_INVALID', proposal);
  });

  it('a key used before by the same strategy, even after the swap failed', () => {
    const state = stateWith({ strategies: [strategySetup('diver'), strategySetup('other')] });
    const intent = approve(state, buy({ key: 'slot-7' }));
    for (const next of ['building', 'signed', 'submitted'] as const) apply(state, outcome(intent, next));
    apply(state, outcome(intent, 'failed', { feeLamports: 5_000n as never }));
    expectDenied(state, 'KEY_REPEATED', buy({ key: 'slot-7' }));
    expect(verdictOn(state, buy({ key: 'slot-8', inputMint: USDC.mint }))).toBeNull();
    expectDenied(state, 'INTENT_OPEN_FOR_MINT', buy({ key: 'slot-7' }), { strategy: 'other' });
  });

  it('no key of a swap that was abandoned before its signature', () => {
    const state = stateWith();
    apply(state, outcome(approve(state, buy({ key: 'slot-7' })), 'abandoned'));
    expect(verdictOn(state, buy({ key: 'slot-7' }))).toBeNull();
  });

  it('no key of a denied proposal', () => {
    const state = stateWith();
    set(state, 'halted');
    expectDenied(state, 'TRADING_HALTED', buy({ key: 'slot-7' }));
    set(state, 'active');
    expect(verdictOn(state, buy({ key: 'slot-7' }))).toBeNull();
  });

  it('a swap when an input is older than max_age by a millisecond, or missing', () => {
    const state = stateWith({ strategies: [strategySetup('diver', { limits: { maxAgeMs: 15_000 } })] });
    const event = sellingSol(150_000, 10_000);
    const record = state.strategies.get('diver')!;
    state.strategies.set('diver', { ...record, inputs: [state.market.slotOf(event.feed)] });
    expectDenied(state, 'INPUT_STALE', buy(), { at: 10_000 });
    apply(state, event, 10_000);
    apply(state, trouble(event.feed, 24_000), 24_000);
    expectDenied(state, 'INPUT_STALE', buy(), { at: 25_001 });
    expect(verdictOn(state, buy(), { at: 25_000 })).toBeNull();
  });

  it('a swap when the age of an input is unknown', () => {
    const state = stateWith({ strategies: [strategySetup('diver', { limits: { maxAgeMs: 15_000 } })] });
    const event = { ...sellingSol(150_000, 0), receivedAt: Number.NaN };
    state.strategies.set('diver', { ...state.strategies.get('diver')!, inputs: [state.market.slotOf(event.feed)] });
    apply(state, event);
    expectDenied(state, 'INPUT_STALE');
  });

  it('a second swap of an input with an open swap, of any strategy', () => {
    const state = stateWith({ strategies: [strategySetup('diver'), strategySetup('other')] });
    const intent = approve(state, buy());
    expectDenied(state, 'INTENT_OPEN_FOR_MINT', buy(), { strategy: 'other' });
    apply(state, outcome(intent, 'building'));
    apply(state, outcome(intent, 'signed'));
    apply(state, outcome(intent, 'unknown'));
    expectDenied(state, 'INTENT_OPEN_FOR_MINT', buy(), { strategy: 'other' });
    apply(state, outcome(intent, 'expired'));
    expect(verdictOn(state, buy(), { strategy: 'other' })).toBeNull();
  });

  it('one open intent more than max_open_intents', () => {
    const fishing = strategySetup('fisher', { budget: { mint: FISH.mint, amount: amount(1_000n) } });
    const holding = strategySetup('holder', { budget: { mint: SOL.mint, amount: amount(1_000n) } });
    const state = stateWith({ limits: { maxOpenIntents: 2 }, strategies: [strategySetup('diver'), fishing, holding] });
    approve(state, buy());
    approve(state, buy({ inputMint: FISH.mint, amount: amount(10n) }), { strategy: 'fisher' });
    expectDenied(
      state, 'INTENTS_OPEN_LIMIT', buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(10n) }),
      { strategy: 'holder' },
    );
  });

  it.each([
    ['perMinute', 'RATE_PER_MINUTE', 60_000], ['perHour', 'RATE_PER_HOUR', 3_600_000],
    ['perDay', 'RATE_PER_DAY', 86_400_000],
  ] as const)('one swap more than max_swaps allows %s, until the first is that old', (span, code, spanMs) => {
    const state = stateWith({ limits: { maxSwaps: { [span]: 2 } } });
    for (const at of [1_000, 2_000]) apply(state, outcome(approve(state, buy(), { at }), 'abandoned'), at);
    expectDenied(state, code, buy(), { at: 1_000 + spanMs - 1 });
    expect(verdictOn(state, buy(), { at: 1_000 + spanMs })).toBeNull();
  });

  it('one unit more than the rest of the budget, reservations counted', () => {
    const state = stateWith();
    expectDenied(state, 'BUDGET_EXCEEDED', buy({ amount: amount(500_000_001n) }));
    expect(verdictOn(state, buy({ amount: amount(500_000_000n) }))).toBeNull();
    const second = stateWith({ limits: { maxOpenIntents: 1 } });
    confirm(second, approve(second, buy({ amount: amount(499_999_999n) })), 1n);
    expectDenied(second, 'BUDGET_EXCEEDED', buy({ amount: amount(2n) }));
    expect(verdictOn(second, buy({ amount: amount(1n) }))).toBeNull();
  });

  it('every swap of a strategy without a budget', () => {
    expectDenied(stateWith({ strategies: [strategySetup('diver', { budget: undefined })] }), 'BUDGET_EXCEEDED', buy({
      amount: amount(1n),
    }));
  });

  it('one unit more than the wallet has, whatever the budget', () => {
    const wallet = new Map(WALLET).set(USDC.mint, amount(100n));
    expectDenied(stateWith({ wallet }), 'BALANCE_INSUFFICIENT', buy({ amount: amount(101n) }));
    expect(verdictOn(stateWith({ wallet }), buy({ amount: amount(100n) }))).toBeNull();
  });

  it('the use of one lamport of the SOL reserve', () => {
    const holder = [strategySetup('diver', { budget: { mint: SOL.mint, amount: amount(10_000_000_000n) } })];
    const state = (): EngineState => stateWith({ strategies: holder, limits: { solReserve: amount(50_000_000n) } });
    const sell = (lamports: bigint): ReturnType<typeof buy> =>
      buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(lamports) });
    expectDenied(state(), 'SOL_RESERVE', sell(9_950_000_001n));
    expect(verdictOn(state(), sell(9_950_000_000n))).toBeNull();
  });

  it('an entry whose new token account would need a deposit from the SOL reserve', () => {
    const holder = [strategySetup('diver', { budget: { mint: SOL.mint, amount: amount(10_000_000_000n) } })];
    const wallet = new Map(WALLET);
    wallet.delete(USDC.mint);
    const state = (): EngineState =>
      stateWith({ strategies: holder, wallet, limits: { solReserve: amount(50_000_000n) } });
    const sell = (lamports: bigint): ReturnType<typeof buy> =>
      buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(lamports) });
    expectDenied(state(), 'SOL_RESERVE', sell(9_950_000_000n - 2_074_079n));
    const opening = state();
    const intent = approve(opening, sell(9_950_000_000n - 2_074_080n));
    for (const reached of ['building', 'signed', 'submitted'] as const) apply(opening, outcome(intent, reached));
    apply(
      opening, outcome(intent, 'confirmed', { fill: { ...fillOf(intent, 100n), rentLamports: 2_074_080n as never } }),
    );
    // It has taken amount and deposit, and is under the reserve by its fee alone.
    expect(opening.portfolio.wallet.get(SOL.mint)).toBe(50_000_000n - 5_000n);
  });

  it('a second entry that would use the deposit of an open swap', () => {
    const strategies = [
      strategySetup('diver', { budget: { mint: FISH.mint, amount: amount(500n) } }),
      strategySetup('other', { budget: { mint: SOL.mint, amount: amount(1_000n) } }),
    ];
    const second = (lamports: bigint): EngineState => {
      const state = stateWith({
        strategies, wallet: new Map([[FISH.mint, amount(500n)], [SOL.mint, amount(lamports)]]),
        limits: { solReserve: amount(50_000_000n) },
      });
      approve(state, buy({ inputMint: FISH.mint, outputMint: KELP.mint, amount: amount(500n) }));
      return state;
    };
    const both = 50_000_000n + 2n * 2_074_080n + 1_000n;
    const spendSol = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(1_000n) });
    expect(verdictOn(second(both - 1n), spendSol, { strategy: 'other' })).toBe('SOL_RESERVE');
    expect(verdictOn(second(both), spendSol, { strategy: 'other' })).toBeNull();
  });

  it('every entry while the wallet has less SOL than the reserve, because an exit could not be paid', () => {
    const wallet = new Map(WALLET).set(SOL.mint, amount(49_999_999n));
    expectDenied(stateWith({ wallet, limits: { solReserve: amount(50_000_000n) } }), 'SOL_RESERVE');
  });

  it('one basis point more slippage than max_slippage_bps', () => {
    expectDenied(stateWith(), 'SLIPPAGE_EXCEEDS_MAX', buy({ slippageBps: 51 as Bps }));
    expectDenied(stateWith(), 'SLIPPAGE_EXCEEDS_MAX', buy({ slippageBps: Number.NaN as Bps }));
    expect(approve(stateWith(), buy({ slippageBps: 50 as Bps })).maxSlippageBps).toBe(50);
    expect(approve(stateWith(), buy({ slippageBps: 10 as Bps })).maxSlippageBps).toBe(10);
    expect(approve(stateWith(), buy()).maxSlippageBps).toBe(50);
  });

  it('one unit more than max_trade, in the limit’s own token and across a price', () => {
    const limits = { maxTrade: { mint: USDC.mint, amount: amount(200_000_000n) } };
    expectDenied(stateWith({ limits }), 'TRADE_EXCEEDS_MAX', buy({ amount: amount(200_000_001n) }));
    expect(verdictOn(stateWith({ limits }), buy({ amount: amount(200_000_000n) }))).toBeNull();

    const holder = [strategySetup('diver', { budget: { mint: SOL.mint, amount: amount(10_000_000_000n) } })];
    const priced = (): EngineState => {
      const state = stateWith({ limits, strategies: holder });
      apply(state, sellingSol(100_000, 0));
      return state;
    };
    const sell = (lamports: bigint): ReturnType<typeof buy> =>
      buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(lamports) });
    expectDenied(priced(), 'TRADE_EXCEEDS_MAX', sell(2_000_010_000n));
    expect(verdictOn(priced(), sell(2_000_000_000n))).toBeNull();
  });

  it('one unit more than max_position: holdings, open swaps and this swap together', () => {
    const limits = { maxPosition: new Map([[SOL.mint, { mint: USDC.mint, amount: amount(100_000_000n) }]]) };
    const filled = (): EngineState => {
      const state = stateWith({
        limits, strategies: [
          strategySetup('diver'), strategySetup('fisher', { budget: { mint: FISH.mint, amount: amount(100_000n) } }),
        ],
      });
      apply(state, sellingSol(100_000, 0));
      apply(state, quote(FISH, USDC, { inAmount: 100_000n, outAmount: 20_000_000n }));
      confirm(state, approve(state, buy({ amount: amount(50_000_000n) })), 500_000_000n);
      approve(state, buy({ inputMint: FISH.mint, amount: amount(100_000n) }), { strategy: 'fisher' });
      return state;
    };
    expectDenied(filled(), 'POSITION_EXCEEDS_MAX', buy({ amount: amount(30_000_001n) }));
    expect(verdictOn(filled(), buy({ amount: amount(30_000_000n) }))).toBeNull();
  });

  describe('an amount without a price for a limit:', () => {
    const limits = { maxTrade: { mint: USDC.mint, amount: amount(200_000_000n) } };
    const fisher = [strategySetup('diver', { budget: { mint: FISH.mint, amount: amount(1_000n) } })];
    const sell = buy({ inputMint: FISH.mint, outputMint: USDC.mint, amount: amount(10n) });

    it.each([
      ['no price at all', []],
      ['a book and trouble, but no price', [book([[42, 1]], [[55, 1]]), trouble(`token-stats:${FISH.mint}`)]],
      ['statistics without a price', [stats(FISH, undefined), stats(USDC, 1)]],
      ['statistics of one token only', [stats(FISH, 2)]],
      ['a price that is no number', [stats(FISH, Number.NaN), stats(USDC, 1)]],
      ['a price of zero', [stats(FISH, 2), stats(USDC, 0)]],
      ['an infinite price', [stats(FISH, 2), stats(USDC, Infinity)]],
      ['a negative price', [stats(FISH, -2), stats(USDC, 1)]],
      ['a quote of nothing', [quote(FISH, USDC, { inAmount: 10n, outAmount: 0n })]],
      ['a quote for nothing', [quote(FISH, USDC, { inAmount: 0n, outAmount: 10n })]],
      ['a quote of nothing the other way', [quote(USDC, FISH, { inAmount: 10n, outAmount: 0n })]],
    ])('%s', (_what, events) => {
      const state = stateWith({ limits, strategies: fisher });
      for (const event of events) apply(state, event);
      expectDenied(state, 'VALUE_UNKNOWN', sell);
    });

    it('a position of which a part has no price', () => {
      const state = stateWith({
        limits: { maxPosition: new Map([[SOL.mint, { mint: USDC.mint, amount: amount(100_000_000n) }]]) },
        strategies: fisher,
      });
      apply(state, sellingSol(100_000, 0));
      expectDenied(state, 'VALUE_UNKNOWN', buy({ inputMint: FISH.mint, amount: amount(10n) }));
    });

    it('nothing where a quote either way, or the prices of both tokens, are known', () => {
      for (const events of [
        [quote(FISH, USDC, { inAmount: 10n, outAmount: 10n })], [quote(USDC, FISH, { inAmount: 10n, outAmount: 10n })],
        [stats(FISH, 2), stats(USDC, 1)],
      ]) {
        const state = stateWith({ limits, strategies: fisher });
        for (const event of events) apply(state, event);
        expect(verdictOn(state, sell)).toBeNull();
      }
    });
  });

  it('an entry without a price of the pair, or with one older than max_quote_age by a millisecond', () => {
    const limits = { maxQuoteAgeMs: 5_000 };
    expectDenied(stateWith({ limits }), 'QUOTE_STALE');
    const state = stateWith({ limits });
    apply(state, sellingSol(150_000, 10_000), 10_000);
    expectDenied(state, 'QUOTE_STALE', buy(), { at: 15_001 });
    expect(verdictOn(state, buy(), { at: 15_000 })).toBeNull();
  });

  it('an entry on a price whose source time is old, in the future, or invalid', () => {
    for (const eventAt of [9_999, 30_000, Number.NaN]) {
      const state = stateWith({ limits: { maxQuoteAgeMs: 5_000 } });
      apply(state, { ...sellingSol(150_000, 15_000), eventAt }, 15_000);
      expectDenied(state, 'QUOTE_STALE', buy(), { at: 15_000 });
    }
  });

  it('an input whose source time is older than max_age', () => {
    const state = stateWith({ strategies: [strategySetup('diver', { limits: { maxAgeMs: 15_000 } })] });
    const event = { ...sellingSol(150_000, 20_000), eventAt: 10_000 };
    state.strategies.set('diver', { ...state.strategies.get('diver')!, inputs: [state.market.slotOf(event.feed)] });
    apply(state, event, 20_000);
    expect(verdictOn(state, buy(), { at: 25_000 })).toBeNull();
    expectDenied(state, 'INPUT_STALE', buy({ inputMint: USDC.mint }), { at: 25_001 });
  });

  it('one unit more than the max_exposure of a strategy or of all: holdings, open swaps and this swap together', () => {
    const usdc = (value: bigint): { mint: Mint; amount: Amount } => ({ mint: USDC.mint, amount: amount(value) });
    const held = (limits: { strategy?: bigint; all?: bigint }): EngineState => {
      const state = stateWith({
        limits: limits.all === undefined ? {} : { maxExposure: usdc(limits.all) },
        strategies: [
          strategySetup('diver', { limits: limits.strategy === undefined ? {}
            : { maxExposure: usdc(limits.strategy) } }),
          strategySetup('fisher', { budget: { mint: FISH.mint, amount: amount(100_000n) } }),
        ],
      });
      apply(state, sellingSol(100_000, 0));
      apply(state, quote(FISH, USDC, { inAmount: 100_000n, outAmount: 20_000_000n }));
      confirm(state, approve(state, buy({ amount: amount(50_000_000n) })), 500_000_000n);
      approve(state, buy({ inputMint: FISH.mint, amount: amount(100_000n) }), { strategy: 'fisher' });
      return state;
    };
    expectDenied(
      held({ strategy: 80_000_000n }), 'STRATEGY_EXPOSURE_EXCEEDS_MAX', buy({ amount: amount(30_000_001n) }),
    );
    expect(verdictOn(held({ strategy: 80_000_000n }), buy({ amount: amount(30_000_000n) }))).toBeNull();
    expectDenied(held({ all: 100_000_000n }), 'EXPOSURE_EXCEEDS_MAX', buy({ amount: amount(30_000_001n) }));
    expect(verdictOn(held({ all: 100_000_000n }), buy({ amount: amount(30_000_000n) }))).toBeNull();
    // What leads back is never too much.
    const later = stateWith({ limits: { maxExposure: usdc(1n) }, snapshot: snapshotState(held({})) });
    expect(verdictOn(later, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }))).toBeNull();
  });

  it('an entry whose limit would need a price older than two hours', () => {
    const limits = { maxPosition: new Map([[SOL.mint, { mint: USDC.mint, amount: amount(100_000_000n) }]]) };
    const fisher = [strategySetup('diver', { budget: { mint: FISH.mint, amount: amount(1_000n) } })];
    const state = stateWith({ limits, strategies: fisher });
    apply(state, quote(FISH, USDC, { inAmount: 10n, outAmount: 10n, at: 1_000 }));
    expectDenied(state, 'VALUE_UNKNOWN', buy({ inputMint: FISH.mint, amount: amount(10n) }), { at: 7_201_001 });
    expect(verdictOn(state, buy({ inputMint: FISH.mint, amount: amount(10n) }), { at: 7_201_000 })).toBeNull();
  });

  it('a token that is unchecked, was checked too long ago, or has findings', () => {
    const tokenSafety = {
      trusted: new Set<Mint>(), minLiquidityUsd: 0, minOrganicScore: 0, minHolders: 0, maxTopHoldersPct: 100,
      maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set<string>(), validForMs: 60_000,
    };
    const state = stateWith({ limits: { tokenSafety } });
    const judge = (findings: readonly string[], at: number): void => {
      apply(state, { kind: 'command', name: 'judge-token', mint: SOL.mint, findings, reason: 'a test' }, at);
    };
    expectDenied(state, 'TOKEN_UNVETTED');
    judge(['FREEZE_AUTHORITY'], 1_000);
    expectDenied(state, 'TOKEN_UNSAFE');
    judge([], 2_000);
    expectDenied(state, 'TOKEN_UNVETTED', buy(), { at: 62_001 });
    confirm(state, approve(state, buy(), { at: 62_000 }), 1_000n);
    judge(['FREEZE_AUTHORITY'], 63_000);
    expect(verdictOn(state, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }), { at: 63_000 }))
      .toBeNull();
  });

  it('a further attempt of an entry whose strategy is no longer configured, but not of an exit', () => {
    const state = stateWith();
    const entry = approve(state, buy());
    const later = stateWith({
      strategies: [strategySetup('other')], snapshot: snapshotState(state),
      open: [{ intent: entry, state: 'building' }],
    });
    expect(retryDenial(later, entry, 2_000)?.code).toBe('STRATEGY_UNKNOWN');
    met.add('STRATEGY_UNKNOWN');
    expect(retryDenial(later, { ...entry, purpose: 'exit' }, 2_000)).toBeUndefined();
  });

  it('a token under exit in parts, an exit without room in a cap, and entries while the service is silent', () => {
    const caps = new Map([[SOL.mint, { perHour: amount(1_000n) }]]);
    const state = stateWith({ limits: { caps } });
    confirm(state, approve(state, buy()), 3_000n);
    const sell = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' });
    confirm(state, approve(state, sell), 1n);
    expectDenied(state, 'EXIT_UNDER_WAY', buy());
    expectDenied(state, 'EXIT_UNDER_WAY', sell);
    apply(state, { kind: 'command', name: 'flatten', reason: 'a test' });
    expectDenied(state, 'CAP_USED_UP', sell);
    const silent = stateWith();
    apply(silent, { kind: 'command', name: 'set-service-access', access: 'silent', reason: 'a test' });
    expectDenied(silent, 'SERVICE_SILENT');
  });

  it('entries into a paused pair in either direction, and of a paused strategy, but no exits', () => {
    const state = stateWith();
    confirm(state, approve(state, buy()), 3_000n);
    const pause = { kind: 'command', name: 'set-pause', isPaused: true, until: 5_000, reason: 'news' } as const;
    apply(state, { ...pause, pair: [SOL.mint, USDC.mint] });
    expectDenied(state, 'PAIR_PAUSED');
    expect(verdictOn(state, into(FISH.mint, 1n))).toBeNull();
    apply(state, { ...pause, strategy: 'diver' });
    expectDenied(state, 'STRATEGY_PAUSED', into(FISH.mint, 2n));
    expect(verdictOn(state, backFrom(SOL.mint))).toBeNull();
    expect(verdictOn(state, buy(), { at: 5_000 })).not.toMatch(/PAUSED/);
  });

  it('with exactly the codes that the documents name', () => {
    // Those of protections are met in protections.test.ts.
    const named = (Object.keys(DENIALS) as DenialCode[]).filter((code) => DENIALS[code].category !== 'protection');
    expect([...met].sort()).toEqual(named.sort());
  });
});

describe('an approval', () => {
  it('counts as exposure before the next proposal is ruled on', () => {
    const state = stateWith();
    approve(state, buy({ amount: amount(400_000_000n) }));
    expect(state.portfolio.available('diver', USDC.mint)).toBe(100_000_000n);
    expect(state.portfolio.unreserved(USDC.mint)).toBe(WALLET.get(USDC.mint)! - 400_000_000n);
  });

  it('resolves "all" to the available amount and floors fractions of it', () => {
    expect(approve(stateWith(), buy({ amount: 'all' })).amountIn).toBe(BUDGET.amount);
    expect(approve(stateWith(), buy({ amount: { fraction: 1 } })).amountIn).toBe(BUDGET.amount);
    expect(approve(stateWith(), buy({ amount: { fraction: 7 } })).amountIn).toBe(BUDGET.amount);
    expect(approve(stateWith(), buy({ amount: { fraction: 1 / 3 } })).amountIn).toBe(166_666_500n);
  });

  it('derives the least output from the last quote of the feed', () => {
    const state = stateWith({ limits: { maxSlippageBps: 50 as never, maxPriceImpactBps: 100 as never } });
    apply(state, quote(USDC, SOL, { inAmount: 25_000_000n, outAmount: 100_000_000n }));
    const least = approve(state, buy({ amount: amount(50_000_000n) })).minimumOut;
    // Twice the reading, less 150 bps.
    expect(least).toBe(197_000_000n);
  });

  it('keeps a strategy’s limit that is higher than the derived one', () => {
    const state = stateWith({ limits: { maxSlippageBps: 50 as never, maxPriceImpactBps: 100 as never } });
    apply(state, quote(USDC, SOL, { inAmount: 25_000_000n, outAmount: 100_000_000n }));
    expect(approve(state, buy({ amount: amount(25_000_000n), limit: amount(99_000_000n) })).minimumOut)
      .toBe(99_000_000n);
  });

  it('allows an exit where the rate is used up, and where SOL for fees is short', () => {
    const state = stateWith({ limits: { maxSwaps: { perMinute: 1 } } });
    confirm(state, approve(state, buy()), 1_000n);
    expectDenied(state, 'RATE_PER_MINUTE', buy());
    expect(verdictOn(state, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }))).toBeNull();
  });

  it('allows an exit beyond max_open_intents, without a price, and beyond max_trade', () => {
    const fisher = strategySetup('fisher', { budget: { mint: FISH.mint, amount: amount(1_000n) } });
    const state = stateWith({
      strategies: [strategySetup('diver'), fisher],
      limits: { maxOpenIntents: 1, maxTrade: { mint: USDC.mint, amount: amount(30_000_000n) }, maxQuoteAgeMs: 1_000 },
    });
    apply(state, sellingSol(100_000, 1_000));
    confirm(state, approve(state, buy()), 1_000n);
    apply(state, quote(FISH, USDC, { inAmount: 10n, outAmount: 10n, at: 1_000 }));
    apply(state, quote(FISH, SOL, { inAmount: 10n, outAmount: 10n, at: 1_000 }));
    approve(state, buy({ inputMint: FISH.mint, amount: amount(10n) }), { strategy: 'fisher' });
    expect(verdictOn(state, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' }), { at: 99_000_000 }))
      .toBeNull();
  });

  it('bounds an exit of all by the SOL reserve and by the wallet’s balance', () => {
    const sell = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' });
    const holding = (wallet: bigint): EngineState => {
      const state =
        stateWith({ wallet: new Map(WALLET).set(SOL.mint, amount(wallet)), limits: { solReserve: amount(50n) } });
      confirm(state, approve(state, buy()), 1_000n, 0n);
      return state;
    };
    expect(approve(holding(50n), sell).amountIn).toBe(1_000n);
    const robbed = holding(50n);
    apply(robbed, {
      kind: 'command', name: 'adjust-wallet', mint: SOL.mint, change: '-300', cause: 'withdrawal', reason: 'a test',
    });
    expect(verdictOn(robbed, { ...sell, amount: amount(701n) })).toBe('SOL_RESERVE');
    expect(approve(robbed, { ...sell, amount: { fraction: 0.9 } }).amountIn).toBe(700n);
    const poor = holding(50n);
    apply(poor, {
      kind: 'command', name: 'adjust-wallet', mint: SOL.mint, change: '-1010', cause: 'withdrawal', reason: 'a test',
    });
    expect(verdictOn(poor, sell)).toBe('SOL_RESERVE');
  });

  it('allows a flatten of a strategy with stale inputs', () => {
    const state = stateWith({ strategies: [strategySetup('diver', { limits: { maxAgeMs: 15_000 } })] });
    const event = sellingSol(150_000, 1_000);
    state.strategies.set('diver', { ...state.strategies.get('diver')!, inputs: [state.market.slotOf(event.feed)] });
    apply(state, event);
    confirm(state, approve(state, buy()), 1_000n);
    const sell = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' });
    expect(verdictOn(state, sell, { at: 99_000 })).toBe('INPUT_STALE');
    apply(state, { kind: 'command', name: 'flatten', reason: 'a test' }, 99_000);
    expect(verdictOn(state, sell, { at: 99_000 })).toBeNull();
  });

  it('does not bound an exit by an old quote', () => {
    const state = stateWith();
    apply(state, sellingSol(100_000, 0));
    confirm(state, approve(state, buy()), 1_000_000_000n);
    const sell = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' });
    const late = approve(state, sell, { at: 300_001 });
    expect(late.minimumOut).toBeUndefined();
    apply(state, outcome(late, 'abandoned'), 300_001);
    expect(approve(state, sell, { at: 300_000 }).minimumOut).toBe(98_500_000n);
  });

  it('classifies a swap into the budget’s token as an exit', () => {
    const state = stateWith();
    confirm(state, approve(state, buy()), 1_000n);
    expect(approve(state, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' })).purpose).toBe('exit');
  });

  it('numbers intents per strategy, with the present limits', () => {
    const state = stateWith({ strategies: [strategySetup('diver'), strategySetup('other')] });
    const intents = [1, 2].map(() => {
      const intent = approve(state, buy({ limit: amount(9n), route: 'build', key: undefined }), { at: 42 });
      apply(state, outcome(intent, 'abandoned'));
      return intent;
    });
    expect(intents.map(({ id }) => id)).toEqual(['diver-1', 'diver-2']);
    expect(approve(state, buy(), { strategy: 'other' }).id).toBe('other-1');
    expect(intents[0]).toMatchObject({
      createdAt: 42, purpose: 'entry', minimumOut: 9n, route: 'build', maxPriceImpactBps: 100, maxFeeBps: 30,
      reason: 'a test',
    });
  });

  it('is given to every alert, halted or not', () => {
    const state = stateWith();
    set(state, 'halted');
    const alert = { kind: 'alert', level: 'info', message: 'notice' } as const;
    expect(propose(state, alert)).toMatchObject({
      decision: { verdict: 'approved', code: null }, effect: { kind: 'alert', strategy: 'diver', alert },
    });
  });
});

/** Approves a purchase whose outcome stays unknown. */
function unknown(state: EngineState): Intent {
  const intent = approve(state, buy());
  for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(intent, reached));
  return intent;
}

describe('issue 13.35: a swap without proof of its outcome', () => {
  const holding = strategySetup('holder', { budget: { mint: SOL.mint, amount: amount(1_000n) } });
  const setup = { limits: { maxOpenIntents: 1 }, strategies: [strategySetup('diver'), holding] };
  const sale = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: amount(10n) });
  it('of an earlier run does not count as an open swap: other inputs trade', () => {
    const intent = unknown(stateWith(setup));
    const state = stateWith({ ...setup, open: [{ intent, state: 'unknown' }] });
    expectDenied(state, 'INTENT_OPEN_FOR_MINT');
    expect(verdictOn(state, sale, { strategy: 'holder' })).toBeNull();
  });

  it('counts until its proof takes longer than a transaction is valid', () => {
    const state = stateWith(setup);
    const intent = unknown(state);
    expectDenied(state, 'INTENTS_OPEN_LIMIT', sale, { strategy: 'holder' });
    apply(state, outcome(intent, 'unknown', { code: 'OUTCOME_UNPROVEN' }));
    expect(verdictOn(state, sale, { strategy: 'holder' })).toBeNull();
  });
});
