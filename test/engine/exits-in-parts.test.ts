import { EMPTY, filter, map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import type { CapRoom } from '../../src/trading/usage-counters.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import { EXIT_FAILURES_MAX } from '../../src/trading/exit-progress.ts';
import { exitEndsAt } from '../../src/trading/exit-sizing.ts';
import type { Input } from '../../src/trading/step.ts';
import { freshSnapshot, snapshotState } from '../../src/trading/engine-state.ts';
import { buyingSol, quote } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { WALLET, buy, fillOf, outcome, verdictOn } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { alerts, start, strategy } from './runs.ts';

const HOUR = 3_600_000;
const ONE_SOL = 1_000_000_000n;
const sol = (amount: number): Amount => BigInt(Math.round(amount * 1e9)) as Amount;
const FLATTEN: Input = { kind: 'command', name: 'flatten', reason: 'a test' };
const HELD = { [USDC.mint]: '1', [SOL.mint]: sol(8).toString() };

type Fate = 'filled'
  | { readonly state: 'failed' | 'expired' | 'abandoned'; readonly code: string; readonly capRoom?: CapRoom };

/** A strategy that holds 8 SOL, under limits. */
function holding({ limits, body = () => EMPTY, fate = () => 'filled', snapshot, silent = false }: {
  readonly limits: Partial<RiskLimits>;
  readonly body?: Body;
  readonly fate?: (intent: Intent, nth: number) => Fate;
  readonly snapshot?: ReturnType<typeof snapshotState>;
  /** Carries nothing out: the outcomes come from elsewhere. */
  readonly silent?: boolean;
}): Run {
  let nth = 0;
  return start([strategy('diver', body)], {
    limits,
    snapshot: snapshot
      ?? { ...freshSnapshot(WALLET), books: { diver: { balances: HELD, feesLamports: '0', swaps: 0 } } },
    onEffect: (effect, engine) => {
      if (effect.kind !== 'execute' || silent) return;
      for (const step of transitionsOf(effect.intent, fate(effect.intent, ++nth)))
        engine.accept(step, engine.clock.now());
    },
  });
}

function transitionsOf(intent: Intent, fate: Fate): Outcome[] {
  const building = outcome(intent, 'building');
  if (fate !== 'filled' && fate.state === 'abandoned') return [building, outcome(intent, 'abandoned', fate)];
  const signed = [building, outcome(intent, 'signed'), outcome(intent, 'submitted')];
  return [...signed, fate === 'filled' ? outcome(intent, 'confirmed', { fill: fillOf(intent, intent.amountIn / 10n) })
    : outcome(intent, fate.state, fate)];
}

function pass({ engine }: Run, until: Millis, step = 60_000): void {
  for (let at = engine.clock.now() + step; at <= until; at += step) engine.advanceTo(at);
}

/** What was sold: when, in whole SOL. */
const parts = ({ effects }: Run): [Millis, number][] =>
  effects.flatMap((effect) => (effect.kind === 'execute' && effect.intent.inputMint === SOL.mint
    ? [[effect.intent.createdAt, Number(effect.intent.amountIn) / 1e9] as [Millis, number]] : []));

const caps = (cap: { perTrade?: number; perHour?: number; perDay?: number }): Partial<RiskLimits> => ({
  caps: new Map([[SOL.mint, Object.fromEntries(Object.entries(cap).map(([span, amount]) => [span, sol(amount)]))]]),
});

const upToTwo = (intent: Intent): Fate =>
  (intent.amountIn > sol(2) ? { state: 'abandoned', code: 'IMPACT_EXCEEDS_MAX' } : 'filled');

const noRouteAfterTwo = (_intent: Intent, nth: number): Fate =>
  (nth <= 2 ? 'filled' : { state: 'abandoned', code: 'NO_ROUTE' });

/** Sells all at the first price. */
const SELL_ALL: Body = (streams, context) => streams['price']!.pipe(
  filter(() => context.openIntents() === 0 && context.available(SOL) > 0n),
  map(() => context.sell(SOL_USDC, 'all', 'a signal', { key: 'one' })));

describe('issue 13.14: an exit that is larger than a cap is sold in parts', () => {
  it('a flatten fits each swap into per_trade, and continues when the hourly cap has room', () => {
    const run = holding({ limits: caps({ perTrade: 2, perHour: 5 }) });
    run.engine.accept(FLATTEN, 1_000);
    pass(run, 3 * HOUR);
    expect(parts(run)).toEqual([[1_000, 2], [1_000, 2], [1_000, 1], [1_000 + HOUR, 1.5], [1_000 + HOUR, 1.5]]);
    expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
    const critical = run.logged.flatMap(({ proposal }) =>
      (proposal.kind === 'alert' && proposal.level === 'critical' ? [proposal.message] : []));
    expect(critical).toEqual(['3 SOL of diver remain to be sold: signer.caps.SOL.per_hour is used up; the next part '
      + 'goes at 01:00:01 UTC (in 1h), the last one at about 01:00:06 UTC (in 1h1m)']);
    expect(alerts(run).at(-1)).toMatch(/flat: diver holds nothing but USDC/);
  });

  it('the engine sells a strategy’s exit in parts after one proposal', () => {
    const run = holding({ limits: caps({ perTrade: 3, perHour: 6 }), body: SELL_ALL });
    for (let at = 1_000; at <= 2 * HOUR; at += 60_000) run.engine.accept(buyingSol(150_000, at), at);
    expect(parts(run).map(([, size]) => size).reduce((sum, size) => sum + size, 0)).toBeCloseTo(8, 9);
    expect(Math.max(...parts(run).map(([, size]) => size))).toBeLessThanOrEqual(3);
    const own = run.logged.filter(({ proposal }) => proposal.kind === 'swap' && proposal.reason === 'a signal');
    expect(own).toHaveLength(1);
    expect(run.logged.filter(({ code }) => code !== null)).toEqual([]);
    expect(alerts(run).at(-1)).toMatch(/the exit of diver from SOL is made, in parts/);
  });

  it('refuses to buy a token under exit, and continues an exit that waits for a cap', () => {
    const run = holding({ limits: caps({ perHour: 8 }), body: () => EMPTY });
    run.state.spends.note(SOL.mint, { at: 0, amount: 8n * ONE_SOL, id: 'before' });
    const sell = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all', key: 'slot-1' });
    expect(verdictOn(run.state, sell, { at: 60_000 })).toBe('CAP_USED_UP');
    expect(verdictOn(run.state, { ...sell, key: 'slot-2' }, { at: 60_000 })).toBe('EXIT_UNDER_WAY');
    expect(verdictOn(run.state, buy({ amount: 1n as Amount }), { at: 60_000 })).toBe('EXIT_UNDER_WAY');
    run.engine.accept(buyingSol(150_000, 61_000), 61_000);
    pass(run, 2 * HOUR);
    expect(parts(run)).toEqual([[HOUR, 8]]);
    expect(verdictOn(run.state, { ...sell, amount: 1n as Amount }, { at: 2 * HOUR + 1 })).toBe('KEY_REPEATED');
  });

  it('fits each part into max_trade and the depth of a quote', () => {
    const byTrade = holding({ limits: { maxTrade: { mint: USDC.mint, amount: 450_000_000n as Amount } } });
    byTrade.engine.accept(quote(SOL, USDC, { inAmount: ONE_SOL, outAmount: 150_000_000n, at: 500 }), 500);
    byTrade.engine.accept(FLATTEN, 1_000);
    // 8 SOL are worth 1200 USDC: three parts of the same size.
    expect(parts(byTrade).map(([, size]) => size)).toEqual([2.666666667, 2.666666667, 2.666666666]);
    const byDepth = holding({ limits: {} });
    byDepth.engine.accept(
      { ...quote(SOL, USDC, { inAmount: 4n * ONE_SOL, outAmount: 600_000_000n, at: 500 }), priceImpact: -0.02 }, 500,
    );
    byDepth.engine.accept(FLATTEN, 1_000);
    expect(parts(byDepth)).toHaveLength(5);
  });

  it('sells in smaller parts after a refusal as too large, in a strategy’s exit too', () => {
    for (const body of [SELL_ALL, (): typeof EMPTY => EMPTY]) {
      const run = holding({ limits: {}, body, fate: upToTwo });
      if (body === SELL_ALL) run.engine.accept(buyingSol(150_000, 1_000), 1_000);
      else run.engine.accept(FLATTEN, 1_000);
      expect(parts(run).map(([, size]) => size)).toEqual([8, 4, 2, 2, 2, 2]);
      expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
    }
  });

  it('corrects its counters by the signer’s answer', () => {
    const room: CapRoom = { span: 'hour', left: sol(3), freeAt: 1_800_000 };
    const run = holding({ limits: caps({ perHour: 8 }), fate: (_intent, nth) =>
      (nth === 1 ? { state: 'abandoned', code: 'CAP_EXCEEDED_HOUR', capRoom: room } : 'filled') });
    run.engine.accept(FLATTEN, 1_000);
    pass(run, 2 * HOUR);
    expect(parts(run)).toEqual([[1_000, 8], [1_000, 3], [1_800_000, 5]]);
  });

  it('gives an exit up after eight permanent failures, reports the rest, and frees the key', () => {
    const selling = holding({ limits: caps({ perTrade: 2 }), body: SELL_ALL, fate: noRouteAfterTwo });
    selling.engine.accept(buyingSol(150_000, 1_000), 1_000);
    expect(selling.state.keys.has('diver:one')).toBe(true);
    pass(selling, HOUR);
    expect(parts(selling)).toHaveLength(2 + EXIT_FAILURES_MAX);
    expect(alerts(selling).at(-1))
      .toMatch(/the exit of diver from SOL is given up with 4 SOL unsold; the last try ended with NO_ROUTE/);
    expect(selling.state.keys.has('diver:one')).toBe(false);
    selling.engine.accept(buyingSol(150_000, HOUR + 1_000), HOUR + 1_000);
    expect(parts(selling)[2 + EXIT_FAILURES_MAX]).toEqual([HOUR + 1_000, 2]);
  });

  it.each([
    'CHAIN_UNREAD', 'CHAIN_RESPONSE_INVALID', 'JOURNAL_FAILED', 'COUNTERS_UNWRITABLE', 'CAP_EXCEEDED_DAY',
    'LIMIT_NOT_MET', 'PRICE_GUARD_UNAVAILABLE', 'PRICE_BELOW_GUARD', 'EXPIRED', '6001',
  ])('never gives up for 15 minutes of %s, which passes by itself, and says so once', (code) => {
    const early: Fate = { state: code === 'EXPIRED' ? 'expired' : 'abandoned', code };
    for (const body of [SELL_ALL, (): typeof EMPTY => EMPTY]) {
      const run: Run = holding({
        limits: caps({ perTrade: 2 }), body,
        fate: ({ createdAt }, nth) => (nth === 1 || createdAt >= HOUR / 4 ? 'filled' : early),
      });
      if (body === SELL_ALL) run.engine.accept(buyingSol(150_000, 1_000), 1_000);
      else run.engine.accept(FLATTEN, 1_000);
      pass(run, HOUR, 1_000);
      expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
      const critical = alerts(run).filter((text) => text.includes('remain to be sold'));
      expect(critical).toEqual([expect.stringContaining(
        `6 SOL of diver remain to be sold: 8 tries in a row failed, the last one ${code}; it is tried again every `
          + '1m') as string]);
    }
  });

  it('sells in at most 64 parts where a quote shows an empty pool', () => {
    const run = holding({ limits: {} });
    const hostile =
      { ...quote(SOL, USDC, { inAmount: 8n * ONE_SOL, outAmount: 1_000_000n, at: 500 }), priceImpact: -0.9999 };
    run.engine.accept(hostile, 500);
    run.engine.accept(FLATTEN, 1_000);
    expect(parts(run)).toHaveLength(64);
    expect(Math.min(...parts(run).map(([, size]) => size))).toBe(0.125);
    expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
  });

  it('waits with one alert where even 1/64 is too large, and sells when the market recovers', () => {
    const run = holding({
      limits: {}, body: SELL_ALL,
      fate: ({ createdAt }) => (createdAt < HOUR / 4 ? { state: 'abandoned', code: 'IMPACT_EXCEEDS_MAX' } : 'filled'),
    });
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    pass(run, HOUR, 1_000);
    expect(Math.min(...parts(run).map(([, size]) => size))).toBeGreaterThanOrEqual(0.125);
    expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
    expect(alerts(run).filter((text) => text.includes('remain to be sold'))).toHaveLength(1);
  });

  it('waits a minute where the signer’s clock is behind and the cap seems free', () => {
    const run: Run = holding({
      limits: caps({ perHour: 8 }),
      fate: ({ createdAt: at }) => (at >= HOUR / 4 ? 'filled' : {
        state: 'abandoned', code: 'CAP_EXCEEDED_HOUR',
        capRoom: { span: 'hour', left: 0n as Amount, freeAt: at - 45 * 60_000 },
      }),
    });
    run.engine.accept(FLATTEN, 1_000);
    pass(run, HOUR, 1_000);
    expect(parts(run).slice(0, 3).map(([at]) => at)).toEqual([1_000, 61_000, 121_000]);
    expect(run.state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
  });

  it('does not restart after flatten and resume when the swap under way was too large', () => {
    const run = holding({ limits: caps({ perTrade: 2 }), body: SELL_ALL, silent: true });
    run.engine.accept(buyingSol(150_000, 1_000), 1_000);
    const intent = run.effects.flatMap((effect) => (effect.kind === 'execute' ? [effect.intent] : []))[0]!;
    run.engine.accept(FLATTEN, 2_000);
    run.engine.accept({ kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a test' }, 3_000);
    for (const step of transitionsOf(intent, { state: 'abandoned', code: 'IMPACT_EXCEEDS_MAX' }))
      run.engine.accept(step, 4_000);
    expect(run.state.exits.size).toBe(0);
  });

  it('continues after a kill with the rest, and sells no part twice', () => {
    const first = holding({ limits: caps({ perTrade: 3, perHour: 6 }), body: SELL_ALL });
    first.engine.accept(buyingSol(150_000, 1_000), 1_000);
    const sold = parts(first).reduce((sum, [, size]) => sum + size, 0);
    const snapshot = JSON.parse(JSON.stringify(snapshotState(first.state))) as ReturnType<typeof snapshotState>;
    const second = holding({ limits: caps({ perTrade: 3, perHour: 6 }), snapshot });
    pass(second, 2 * HOUR);
    expect(sold + parts(second).reduce((sum, [, size]) => sum + size, 0)).toBeCloseTo(8, 9);
    expect(parts(second)[0]![0]).toBeGreaterThanOrEqual(HOUR);
    expect(second.state.exits.size).toBe(0);
  });

  it('survives a run of other strategies, such as a manual swap', () => {
    const first = holding({ limits: caps({ perTrade: 3, perHour: 6 }), body: SELL_ALL });
    first.engine.accept(buyingSol(150_000, 1_000), 1_000);
    const between = start([strategy('by-hand', () => EMPTY)], { snapshot: snapshotState(first.state) });
    pass(between, 2 * HOUR);
    expect(between.effects).toEqual([]);
    const second = holding({ limits: caps({ perTrade: 3, perHour: 6 }), snapshot: snapshotState(between.state) });
    pass(second, 3 * HOUR);
    expect([...parts(first), ...parts(second)].reduce((sum, [, size]) => sum + size, 0)).toBeCloseTo(8, 9);
  });

  it('gives the same hash in a replay', () => {
    const limits = caps({ perTrade: 2, perHour: 5 });
    const first = holding({ limits, body: SELL_ALL });
    for (let at = 1_000; at <= 2 * HOUR; at += 60_000) first.engine.accept(buyingSol(150_000, at), at);
    const again = holding({ limits, body: SELL_ALL, silent: true });
    for (const { at, input } of first.inputs) again.engine.accept(input, at);
    expect(parts(first).length).toBeGreaterThan(4);
    expect(again.engine.decisionHash).toBe(first.engine.decisionHash);
  });

  it('estimates the duration of a full exit under caps', () => {
    expect(exitEndsAt({ amount: sol(2), cap: { perTrade: sol(1) }, at: 0 })).toBe(5_000);
    expect(exitEndsAt({ amount: sol(8), cap: { perHour: sol(2) }, at: 0 })).toBe(3 * HOUR);
    expect(exitEndsAt({ amount: sol(8), cap: { perDay: sol(2) }, at: 0 })).toBeUndefined();
    // Beyond 1,000 parts the rest is taken to go as fast, and a cap of nothing ends the calculation too.
    const tiny = { perTrade: 1n as Amount, perHour: 100_000n as Amount };
    expect(exitEndsAt({ amount: 17_000n as Amount, cap: tiny, at: 0 })).toBe(17_000 * 5_000);
    expect(exitEndsAt({ amount: 18_000n as Amount, cap: tiny, at: 0 })).toBeUndefined();
    expect(exitEndsAt({ amount: sol(1), cap: { perHour: 0n as Amount }, at: 0 })).toBeUndefined();
  });
});
