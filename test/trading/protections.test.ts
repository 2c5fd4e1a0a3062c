import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import { PROTECTIONS } from '../../src/trading/protections/catalogue.ts';
import { effectiveTrading } from '../../src/trading/risk/trading-state-rules.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import { retryDenial } from '../../src/trading/risk/rules.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { quote, sellingSol } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import {
  carry, command, DAY, ELAPSED, HOUR, MINUTE, price, protection, restarted, resume, roundTrip, SELL, START, stateUnder,
  usdc,
} from './protected-states.ts';
import { apply, approve, buy, fillOf, outcome, propose, strategySetup, verdictOn } from './states.ts';

const seen = new Set<string>();

/** Returns the triggers and releases since the last call. */
function changes(state: EngineState): string[] {
  return takeChanges(state.protections).map(({ change, code, subject, reason, protection: { trigger } }) => {
    expect(reason).not.toBe('');
    seen.add(trigger.kind);
    return `${change} ${code} ${subject}`.trim();
  });
}

const reasonOf = (state: EngineState): string => propose(state, buy(), { at: START }).denial!.reason;
const missing = (of: string, currency: string): string =>
  `there is no price of ${of} in ${currency} for the comparison with the limit: none has arrived yet, none is `
  + 'watched, or it is too old';

describe('a protection', () => {
  it('pauses after the last loss, and only within its scope', () => {
    const state = stateUnder([protection({ kind: 'cooldown', after: 'loss' }, { release: ELAPSED })]);
    roundTrip(state, START, 26);
    expect(verdictOn(state, buy(), { at: START })).toBeNull();
    apply(state, outcome([...state.intents.values()][0]!.intent, 'abandoned'), START);
    roundTrip(state, START, 24.999999);
    expect(changes(state)).toEqual(['fired COOLDOWN_ACTIVE diver']);
    expect(verdictOn(state, buy(), { at: START + HOUR - 1 })).toBe('COOLDOWN_ACTIVE');
    expect(verdictOn(state, buy(), { at: START + HOUR - 1, strategy: 'other' })).toBeNull();
    apply(state, outcome([...state.intents.values()][0]!.intent, 'abandoned'), START + HOUR);
    expect(changes(state)).toEqual(['released COOLDOWN_ACTIVE diver']);
    expect(verdictOn(state, buy(), { at: START + HOUR })).toBeNull();
  });

  it('includes fees in the profit of an exit', () => {
    const state = stateUnder([protection({ kind: 'cooldown', after: 'loss' }, { release: ELAPSED })]);
    price(state, 200, START);
    carry(state, buy(), START, 'confirmed', { out: 100_000_000n, fee: 5_000n });
    carry(state, SELL, START, 'confirmed', { out: 25_001_999n, fee: 5_000n });
    expect(changes(state)).toEqual(['fired COOLDOWN_ACTIVE diver']);
  });

  it('pauses a token after a swap of any strategy', () => {
    const state = stateUnder([protection({ kind: 'cooldown', after: 'trade' }, { scope: 'token', release: ELAPSED })]);
    carry(state, buy(), START, 'confirmed', { out: 1_000n });
    expect(verdictOn(state, buy(), { at: START + 1, strategy: 'other' })).toBe('COOLDOWN_ACTIVE');
    expect(verdictOn(state, buy({ outputMint: FISH.mint }), { at: START + 1, strategy: 'other' })).toBeNull();
    expect(verdictOn(state, SELL, { at: START + 1 })).toBeNull();
  });

  it('triggers after losses in a row within the span, without a gain in between', () => {
    const streak = [protection({ kind: 'loss-streak', losses: 3, withinMs: HOUR }, { release: ELAPSED })];
    const run = (...trips: readonly (readonly [Millis, number])[]): string[] => {
      const state = stateUnder(streak);
      for (const [at, usd] of trips) roundTrip(state, START + at, usd);
      return changes(state);
    };
    expect(run([0, 24], [1, 24], [HOUR - 1, 24])).toEqual(['fired LOSS_STREAK diver']);
    expect(run([0, 24], [1, 24], [HOUR, 24])).toEqual([]);
    expect(run([0, 24], [1, 25], [2, 24], [3, 24])).toEqual([]);
  });

  it('restarts a loss streak after its release', () => {
    const state = stateUnder([protection({ kind: 'loss-streak', losses: 2, withinMs: DAY }, { release: ELAPSED })]);
    for (const at of [0, 1]) roundTrip(state, START + at, 24);
    price(state, 250, START + HOUR + 1);
    expect(changes(state)).toEqual(['fired LOSS_STREAK diver', 'released LOSS_STREAK diver']);
    roundTrip(state, START + HOUR + 2, 24);
    expect(changes(state)).toEqual([]);
    roundTrip(state, START + HOUR + 3, 24);
    expect(changes(state)).toEqual(['fired LOSS_STREAK diver']);
  });

  it('triggers where the profit of exits is below a share of their cost', () => {
    const low = [protection(
      { kind: 'low-profit', trades: 2, withinMs: HOUR, leastBps: 100 }, { scope: 'global', release: ELAPSED },
    )];
    const run = (...usd: readonly number[]): string[] => {
      const state = stateUnder(low);
      usd.forEach((back, index) => { roundTrip(state, START + index, back, index % 2 === 0 ? 'diver' : 'other'); });
      return changes(state);
    };
    expect(run(25.1, 25.3)).toEqual(['fired PROFIT_TOO_LOW']);
    expect(run(25.2, 25.3)).toEqual([]);
    expect(run(24)).toEqual([]);
  });

  it('triggers at the drawdown from the all-time peak, and not before', () => {
    const state = stateUnder([protection({ kind: 'max-drawdown', limitPct: 10 }, { action: 'reduce-only' })]);
    price(state, 250, START);
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 2_000_000_000n });
    price(state, 300, START + MINUTE);
    price(state, 270.001, START + 2 * MINUTE);
    expect(changes(state)).toEqual([]);
    price(state, 270, START + 3 * MINUTE);
    expect(changes(state)).toEqual(['fired DRAWDOWN_EXCEEDS_MAX diver']);
    expect(effectiveTrading(state, 'diver')).toBe('reduce-only');
    expect(effectiveTrading(state)).toBe('active');
    price(state, 300, START + 4 * MINUTE);
    expect(verdictOn(state, buy({ inputMint: SOL.mint, outputMint: FISH.mint }), { at: START + 4 * MINUTE }))
      .toBe('DRAWDOWN_EXCEEDS_MAX');
    expect(verdictOn(state, SELL, { at: START + 4 * MINUTE })).toBeNull();
  });

  it('keeps peaks and triggers over a restart and under another configuration', () => {
    const rules = [protection({ kind: 'max-drawdown', limitPct: 10 })];
    const state = stateUnder(rules);
    price(state, 250, START);
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 2_000_000_000n });
    price(state, 300, START + MINUTE);
    const later = restarted(state);
    price(later, 270, START + 2 * MINUTE);
    expect(changes(later)).toEqual(['fired DRAWDOWN_EXCEEDS_MAX diver']);
    const relaxed = restarted(later, [
      protection({ kind: 'cooldown', after: 'trade' }, { release: ELAPSED }),
      protection({ kind: 'max-drawdown', limitPct: 90 }),
    ]);
    price(relaxed, 300, START + 3 * MINUTE);
    expect(verdictOn(relaxed, buy({ inputMint: SOL.mint, outputMint: FISH.mint }), { at: START + 3 * MINUTE }))
      .toBe('DRAWDOWN_EXCEEDS_MAX');
    expect(
      verdictOn(restarted(later, []), buy({ inputMint: SOL.mint, outputMint: FISH.mint }), { at: START + 3 * MINUTE }),
    ).toBeNull();
  });

  it('resets the drawdown of the named strategy when an operator resumes it', () => {
    const state = stateUnder([
      protection({ kind: 'max-drawdown', limitPct: 10 }),
      protection({ kind: 'max-drawdown', limitPct: 10 }, { scope: 'global' }),
    ]);
    price(state, 250, START);
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 2_000_000_000n });
    price(state, 150, START + MINUTE);
    expect(changes(state)).toEqual(['fired DRAWDOWN_EXCEEDS_MAX', 'fired DRAWDOWN_EXCEEDS_MAX diver']);
    resume(state, START + 2 * MINUTE, 'other');
    expect(changes(state)).toEqual([]);
    resume(state, START + 2 * MINUTE, 'diver');
    expect(changes(state)).toEqual(['released DRAWDOWN_EXCEEDS_MAX diver']);
    resume(state, START + 2 * MINUTE);
    expect(changes(state)).toEqual(['released DRAWDOWN_EXCEEDS_MAX']);
    price(state, 136, START + 3 * MINUTE);
    expect(changes(state)).toEqual([]);
    price(state, 135, START + 4 * MINUTE);
    expect(changes(state)).toEqual(['fired DRAWDOWN_EXCEEDS_MAX diver']);
  });

  it('takes no deposit for a profit and no withdrawal for a loss', () => {
    const state = stateUnder([protection({ kind: 'max-drawdown', limitPct: 1 }, { scope: 'global' })]);
    price(state, 250, START);
    for (const [cause, change] of [['deposit', '9000000000'], ['withdrawal', '-9000000000']] as const) {
      command(state, START + MINUTE, { name: 'adjust-wallet', mint: USDC.mint, change, cause });
    }
    price(state, 250, START + 2 * MINUTE);
    expect(changes(state)).toEqual([]);
  });

  it('triggers at a daily loss against the last value of the day before, until midnight', () => {
    const state = stateUnder([protection(
      { kind: 'daily-loss', limit: usdc(50) }, { scope: 'global', action: 'halt', release: { kind: 'next-day' } },
    )]);
    price(state, 250, START);
    carry(state, buy({ amount: 'all' }), START, 'confirmed', { out: 2_000_000_000n });
    price(state, 230, START + DAY - MINUTE);
    price(state, 206, START + DAY + MINUTE);
    expect(changes(state)).toEqual([]);
    price(state, 205, START + DAY + 2 * MINUTE);
    expect(changes(state)).toEqual(['fired DAILY_LOSS_EXCEEDS_MAX']);
    expect(verdictOn(state, SELL, { at: START + DAY + 3 * MINUTE })).toBe('TRADING_HALTED');
    expect(effectiveTrading(state)).toBe('halted');
    const later = restarted(state);
    price(later, 205, START + 2 * DAY);
    expect(changes(later)).toEqual(['released DAILY_LOSS_EXCEEDS_MAX']);
    expect(verdictOn(later, SELL, { at: START + 2 * DAY })).toBeNull();
  });

  it('never triggers for a profit', () => {
    const state = stateUnder([
      protection({ kind: 'max-drawdown', limitPct: 1 }), protection({ kind: 'daily-loss', limit: usdc(1) }),
      protection({ kind: 'loss-streak', losses: 1, withinMs: DAY }),
    ]);
    for (const [index, usd] of [250, 280, 300].entries()) price(state, usd, START + index * MINUTE);
    for (const at of [0, 1, 2]) roundTrip(state, START + HOUR + at, 30);
    expect(changes(state)).toEqual([]);
  });

  it('refuses entries of a strategy with unknown equity, never its exits', () => {
    const state = stateUnder([protection({ kind: 'max-drawdown', limitPct: 10 })]);
    carry(state, buy(), START, 'confirmed', { out: 1_000n });
    expect(verdictOn(state, buy(), { at: START })).toBe('VALUE_UNKNOWN');
    expect(state.protections.equity.get('diver')).toMatchObject({ isKnown: false, value: 500_000_000n });
    expect(verdictOn(state, buy(), { at: START, strategy: 'other' })).toBeNull();
    expect(verdictOn(state, SELL, { at: START })).toBeNull();
  });

  it('names the missing price: of a holding, of another budget, or of the budget in the limit’s token', () => {
    const own = stateUnder([protection({ kind: 'max-drawdown', limitPct: 10 })]);
    carry(own, buy(), START, 'confirmed', { out: 1_000n });
    expect(reasonOf(own)).toBe(`${missing('SOL', 'USDC')}; diver holds it, so the loss is unknown, and entries `
      + 'wait until it has a price again, is sold, or is sent out of the wallet');
    const inSol = stateUnder([protection({ kind: 'max-drawdown', limitPct: 10 }, { scope: 'global' })], { strategies: [
      strategySetup('diver'),
      { ...strategySetup('other'), budget: { mint: SOL.mint, amount: 1_000_000_000n as Amount } },
    ] });
    expect(reasonOf(inSol)).toBe(missing('SOL', 'USDC'));
    const daily =
      stateUnder([protection({ kind: 'daily-loss', limit: { mint: FISH.mint, amount: 1_000n as Amount } })]);
    price(daily, 250, START);
    roundTrip(daily, START, 20);
    expect(reasonOf(daily)).toBe(missing('USDC', 'FISH'));
  });

  it('triggers at the daily fees, failed swaps included, until the next day', () => {
    const state = stateUnder([protection(
      { kind: 'fee-budget', limitLamports: 15_000n as Lamports }, { scope: 'global', release: { kind: 'next-day' } },
    )]);
    carry(state, buy(), START, 'confirmed', { out: 1_000n, fee: 5_000n });
    carry(state, buy(), START, 'failed', { feeLamports: 9_999n as Lamports });
    expect(verdictOn(state, buy(), { at: START })).toBeNull();
    const { intent } = [...state.intents.values()][0]!;
    for (const reached of ['building', 'signed', 'failed'] as const)
      apply(state, outcome(intent, reached, reached === 'failed' ? { feeLamports: 1n as Lamports } : {}), START);
    expect(verdictOn(state, buy(), { at: START + DAY - 1, strategy: 'other' })).toBe('FEE_BUDGET_EXCEEDED');
    expect(verdictOn(state, SELL, { at: START + DAY - 1 })).toBeNull();
    expect(verdictOn(state, buy(), { at: START + DAY, strategy: 'other' })).toBeNull();
    expect(changes(state)).toEqual(['fired FEE_BUDGET_EXCEEDED', 'released FEE_BUDGET_EXCEEDED']);
  });

  it('triggers while a feed does not answer; health reports do not count as answers', () => {
    const state = stateUnder([protection({ kind: 'stale-feed', afterMs: MINUTE }, { release: { kind: 'cleared' } })]);
    const event = sellingSol(150_000, START);
    state.strategies.set('diver', { ...state.strategies.get('diver')!, inputs: [state.market.slotOf(event.feed)] });
    apply(state, event, START);
    apply(state, {
      kind: 'feed-health', feed: event.feed, receivedAt: START + 59_000, status: 'down', consecutiveFailures: 9,
    }, START + 59_000);
    expect(changes(state)).toEqual([]);
    expect(verdictOn(state, buy(), { at: START + MINUTE })).toBe('FEED_STALE');
    price(state, 150, START + 2 * MINUTE);
    expect(verdictOn(state, buy(), { at: START + 2 * MINUTE })).toBeNull();
    expect(changes(state)).toEqual(['fired FEED_STALE diver', 'released FEED_STALE diver']);
  });

  it('triggers where a feed never answered since the start, or has no valid time', () => {
    const state = stateUnder([protection({ kind: 'stale-feed', afterMs: MINUTE }, { release: { kind: 'cleared' } })]);
    state.strategies.set('diver', { ...state.strategies.get('diver')!, inputs: [state.market.slotOf('quote:never')] });
    apply(state, quote(FISH, USDC, { inAmount: 1n, outAmount: 1n, at: START }), START);
    expect(verdictOn(state, buy({ amount: 1n as Amount }), { at: START + MINUTE - 1 })).toBeNull();
    apply(state, quote(FISH, USDC, { inAmount: 1n, outAmount: 1n, at: START + MINUTE }), START + 2 * MINUTE);
    expect(changes(state)).toEqual(['fired FEED_STALE diver']);
  });

  it('triggers after unknown outcomes in a row, until an outcome is known', () => {
    const fisher = strategySetup('other', { budget: { mint: FISH.mint, amount: 1_000n as Amount } });
    const state = stateUnder(
      [protection({ kind: 'blind-execution', unknowns: 2 }, { scope: 'global', release: { kind: 'cleared' } })],
      { strategies: [strategySetup('diver'), fisher] },
    );
    const first = approve(state, buy(), { at: START });
    for (const reached of ['building', 'signed', 'unknown', 'submitted', 'unknown'] as const)
      apply(state, outcome(first, reached), START);
    expect(changes(state)).toEqual([]);
    const second =
      approve(state, buy({ inputMint: FISH.mint, amount: 10n as Amount }), { at: START, strategy: 'other' });
    for (const reached of ['building', 'signed', 'unknown'] as const) apply(state, outcome(second, reached), START);
    expect(changes(state)).toEqual(['fired EXECUTION_BLIND']);
    expect(verdictOn(state, buy({ inputMint: SOL.mint, amount: 1n as Amount, outputMint: FISH.mint }), { at: START }))
      .toBe('EXECUTION_BLIND');
    apply(state, outcome(first, 'expired'), START + 1);
    expect(changes(state)).toEqual(['released EXECUTION_BLIND']);
  });

  it('counts an abandoned swap with proven expiry as known, also after a restart', () => {
    const rules = [protection({ kind: 'blind-execution', unknowns: 3 }, {
      scope: 'global', action: 'reduce-only', release: { kind: 'cleared' },
    })];
    const blind = (): { state: EngineState; last: ReturnType<typeof approve> } => {
      const state = stateUnder(rules);
      const intents = [
        buy(), buy({ inputMint: FISH.mint, outputMint: USDC.mint, amount: 1n as Amount }),
        buy({ inputMint: SOL.mint, amount: 1n as Amount, outputMint: USDC.mint }),
      ].map((proposal) => {
        state.portfolio.book('diver').balances.set(proposal.inputMint, 100_000_000n as Amount);
        const intent = approve(state, proposal, { at: START });
        for (const reached of ['building', 'signed', 'submitted', 'unknown', 'unknown'] as const)
          apply(state, outcome(intent, reached), START);
        return intent;
      });
      expect(changes(state)).toEqual(['fired EXECUTION_BLIND']);
      return { state, last: intents[2]! };
    };
    const given = blind();
    apply(given.state, outcome(given.last, 'building', { attempt: 2, ended: 'expired' }), START + 1);
    expect(verdictOn(
      given.state, buy({ inputMint: SOL.mint, amount: 1n as Amount, outputMint: FISH.mint }), { at: START + 1 },
    )).toBe('INTENT_OPEN_FOR_MINT');
    expect(changes(given.state)).toEqual(['released EXECUTION_BLIND']);
    apply(given.state, outcome(given.last, 'abandoned', { attempt: 2 }), START + 1);

    const booked = blind();
    const later =
      stateUnder(rules, { snapshot: snapshotState(booked.state), open: [{ intent: booked.last, state: 'building' }] });
    apply(later, outcome(booked.last, 'abandoned', { attempt: 2 }), START + 1);
    expect(changes(later)).toEqual(['released EXECUTION_BLIND']);

    // What was never sent says nothing of the others.
    const unsent = blind();
    const open =
      stateUnder(rules, { snapshot: snapshotState(unsent.state), open: [{ intent: unsent.last, state: 'building' }] });
    apply(open, outcome(unsent.last, 'abandoned'), START + 1);
    expect(changes(open)).toEqual([]);
  });

  it('triggers while an outcome stays unknown, over a restart too', () => {
    const rules = [protection({ kind: 'unresolved-intent', afterMs: 10 * MINUTE }, { release: { kind: 'cleared' } })];
    const state = stateUnder(rules);
    const intent = approve(state, buy(), { at: START });
    for (const reached of ['building', 'signed', 'unknown'] as const)
      apply(state, outcome(intent, reached), START + MINUTE);
    const later = stateUnder(rules, { snapshot: snapshotState(state), open: [{ intent, state: 'unknown' }] });
    const other = buy({ inputMint: FISH.mint, amount: 1n as Amount });
    expect(verdictOn(later, other, { at: START + 11 * MINUTE - 1 })).toBe('BUDGET_EXCEEDED');
    expect(verdictOn(later, other, { at: START + 11 * MINUTE })).toBe('INTENT_UNRESOLVED');
    apply(later, outcome(intent, 'expired'), START + 12 * MINUTE);
    expect(verdictOn(later, buy(), { at: START + 12 * MINUTE })).toBeNull();
    expect(changes(later)).toEqual(['fired INTENT_UNRESOLVED diver', 'released INTENT_UNRESOLVED diver']);
  });

  it('counts an unknown intent of an older version as unknown since its creation', () => {
    const rules = [protection({ kind: 'unresolved-intent', afterMs: 10 * MINUTE }, { release: { kind: 'cleared' } })];
    const state = stateUnder(rules);
    const intent = approve(state, buy(), { at: START });
    const later = stateUnder(rules, {
      snapshot: { ...snapshotState(state), protections: undefined }, open: [{ intent, state: 'unknown' }],
    });
    expect(verdictOn(later, buy({ inputMint: FISH.mint, amount: 1n as Amount }), { at: START + 10 * MINUTE }))
      .toBe('INTENT_UNRESOLVED');
  });

  it('issue 13.15: counts signed swaps that failed or expired as errors, and nothing that was never signed', () => {
    const rules = [protection({ kind: 'error-rate', failures: 2, withinMs: HOUR }, { release: ELAPSED })];
    const run = (
      ...ends: readonly (readonly ['failed' | 'expired' | 'abandoned', string | undefined, number?])[]
    ): string[] => {
      const state = stateUnder(rules);
      ends.forEach(([end, code, attempt = 1], index) => {
        carry(state, buy(), START + index * MINUTE, end, { code, attempt });
      });
      return changes(state);
    };
    expect(run(['failed', '6001'], ['expired', 'EXPIRED'])).toEqual(['fired ERROR_RATE_EXCEEDS_MAX diver']);
    expect(run(['expired', 'EXPIRED'], ['abandoned', 'SERVICE_UNREACHABLE', 2]))
      .toEqual(['fired ERROR_RATE_EXCEEDS_MAX diver']);
    expect(run(...['SERVICE_UNREACHABLE', 'SERVICE_TIMEOUT', 'LIMIT_NOT_MET', 'QUOTE_STALE', undefined].map((code) =>
      ['abandoned', code] as const))).toEqual([]);
    expect(run(['failed', '6001'], ['abandoned', 'TRADING_HALTED', 2], ['abandoned', 'DRAWDOWN_EXCEEDS_MAX', 2]))
      .toEqual([]);
  });

  it('triggers where the chain has less than the ledger, until an operator resumes', () => {
    const rules = [
      protection({ kind: 'reconciliation-mismatch' }, { scope: 'token', action: 'halt' }),
      protection({ kind: 'reconciliation-mismatch' }, { scope: 'global' }),
    ];
    const state = stateUnder(rules);
    carry(state, buy(), START, 'confirmed', { out: 1_000n });
    command(state, START, { name: 'adjust-wallet', mint: SOL.mint, change: '5', cause: 'deposit' });
    command(state, START, { name: 'adjust-wallet', mint: SOL.mint, change: '-5', cause: 'withdrawal' });
    expect(changes(state)).toEqual([]);
    command(state, START, { name: 'adjust-wallet', mint: SOL.mint, change: '-5', cause: 'mismatch' });
    expect(changes(state)).toEqual(['fired LEDGER_MISMATCH', `fired LEDGER_MISMATCH ${SOL.mint}`]);
    const later = restarted(state);
    expect(verdictOn(later, SELL, { at: START })).toBe('TRADING_HALTED');
    expect(verdictOn(later, buy({ outputMint: FISH.mint }), { at: START })).toBe('LEDGER_MISMATCH');
    resume(later, START);
    expect(verdictOn(later, SELL, { at: START })).toBeNull();
  });

  it('is released when the chain has the whole missing amount again, whatever its cause', () => {
    const state =
      stateUnder([protection({ kind: 'reconciliation-mismatch' }, { scope: 'global', release: { kind: 'cleared' } })]);
    const adjust = (
      at: Millis, change: string, cause: string, mint = USDC.mint,
    ): void => { command(state, at, { name: 'adjust-wallet', mint, change, cause }); };
    adjust(START, '1000', 'deposit');
    adjust(START, '-500', 'mismatch');
    expect(changes(state)).toEqual(['fired LEDGER_MISMATCH']);
    adjust(START + 1, '500', 'deposit', SOL.mint);
    adjust(START + 1, '-500', 'withdrawal');
    adjust(START + MINUTE, '499', 'deposit');
    expect(changes(state)).toEqual([]);
    expect(verdictOn(restarted(state), buy(), { at: START + MINUTE })).toBe('LEDGER_MISMATCH');
    adjust(START + 2 * MINUTE, '700', 'deposit');
    expect(changes(state)).toEqual(['released LEDGER_MISMATCH']);
    expect(verdictOn(restarted(state), buy(), { at: START + 2 * MINUTE })).toBeNull();
    adjust(START + 3 * MINUTE, '-1', 'mismatch');
    expect(changes(state)).toEqual(['fired LEDGER_MISMATCH']);
  });

  it('triggers while no operator is present', () => {
    const state = stateUnder([protection(
      { kind: 'dead-man', afterMs: DAY }, { scope: 'global', action: 'flatten', release: { kind: 'cleared' } },
    )]);
    price(state, 150, START);
    command(state, START + HOUR, { name: 'set-trading-state', state: 'active', by: 'stop-file' });
    price(state, 150, START + DAY);
    expect(changes(state)).toEqual(['fired OPERATOR_ABSENT']);
    expect([...state.flattening]).toEqual(['diver', 'other']);
    expect(verdictOn(state, buy(), { at: START + DAY })).toBe('TRADING_REDUCE_ONLY');
    command(state, START + DAY + 1, { name: 'report-presence' });
    expect(changes(state)).toEqual(['released OPERATOR_ABSENT']);
    expect([...state.flattening]).toEqual([]);
    expect(verdictOn(state, buy(), { at: START + DAY + 1 })).toBeNull();
  });

  it('keeps an operator’s flatten when it is released', () => {
    const state =
      stateUnder([protection({ kind: 'cooldown', after: 'trade' }, { action: 'flatten', release: ELAPSED })]);
    command(state, START, { name: 'flatten', strategy: 'other' });
    const intent = approve(state, buy(), { at: START });
    command(state, START, { name: 'flatten', strategy: 'diver' });
    for (const reached of ['building', 'signed'] as const) apply(state, outcome(intent, reached), START);
    apply(state, outcome(intent, 'confirmed', { fill: fillOf(intent, 10n) }), START);
    price(state, 150, START + HOUR);
    expect(changes(state)).toEqual(['fired COOLDOWN_ACTIVE diver', 'released COOLDOWN_ACTIVE diver']);
    expect([...state.flattening]).toEqual(['other', 'diver']);
    resume(state, START + HOUR, 'diver');
    expect([...state.flattening]).toEqual(['other']);
    resume(state, START + HOUR);
    expect([...state.flattening]).toEqual([]);
  });

  it('gives the code of the strongest action: halt before deny', () => {
    const rules = (['deny', 'halt', 'reduce-only'] as const)
      .map((action) => protection({ kind: 'cooldown', after: 'trade' }, { action, release: ELAPSED }));
    const state = stateUnder(rules);
    carry(state, buy(), START, 'confirmed', { out: 1_000n });
    expect(verdictOn(state, buy(), { at: START })).toBe('TRADING_HALTED');
    expect(verdictOn(state, SELL, { at: START })).toBe('TRADING_HALTED');
  });

  it('applies to a further attempt of a swap', () => {
    const state =
      stateUnder([protection({ kind: 'dead-man', afterMs: HOUR }, { scope: 'global', release: { kind: 'cleared' } })]);
    const intent = approve(state, buy(), { at: START });
    expect(retryDenial(state, intent, START + 1)).toBeUndefined();
    price(state, 150, START + HOUR);
    expect(retryDenial(state, intent, START + HOUR)?.code).toBe('OPERATOR_ABSENT');
    expect(retryDenial(state, { ...intent, purpose: 'exit' }, START + HOUR)).toBeUndefined();
  });

  it('ignores time that goes back', () => {
    const state = stateUnder([protection({ kind: 'cooldown', after: 'trade' }, { release: ELAPSED })]);
    carry(state, buy(), START, 'confirmed', { out: 1_000n });
    const later = restarted(state);
    // What recovery books of an earlier process carries no time.
    apply(later, sellingSol(150_000, 0), 0);
    expect(verdictOn(later, buy(), { at: START + HOUR - 1 })).toBe('COOLDOWN_ACTIVE');
    expect(verdictOn(later, buy(), { at: START + HOUR })).toBeNull();
  });

  it('has a test for each kind', () => {
    expect([...seen].sort()).toEqual(Object.keys(PROTECTIONS).sort());
  });
});

describe('a trading state', () => {
  it('that one source made strict is relaxed only by it or by an operator', () => {
    const state = stateUnder([]);
    const set = (
      by: string | undefined, trading: string,
    ): void => { command(state, START, { name: 'set-trading-state', state: trading, by }); };
    set('operator', 'halted');
    set('stop-file', 'active');
    expect(state.trading).toBe('halted');
    set('operator', 'active');
    set('safe-mode', 'reduce-only');
    set('stop-file', 'halted');
    set('safe-mode', 'active');
    expect(state.trading).toBe('halted');
    set('stop-file', 'active');
    expect(state.trading).toBe('active');
  });

  it('with options that do not fit is refused at the start', () => {
    expect(() => stateUnder([protection({ kind: 'dead-man', afterMs: 1 })]))
      .toThrow('dead-man counts by global, not by strategy');
    expect(() => stateUnder([protection({ kind: 'cooldown', after: 'loss' }, { release: { kind: 'cleared' } })]))
      .toThrow('is released by');
    expect(() => stateUnder([protection({ kind: 'cooldown', after: 'loss' }, { scope: 'token', action: 'flatten' })]))
      .toThrow('not flatten');
  });
});
