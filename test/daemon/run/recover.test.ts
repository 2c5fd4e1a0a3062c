import { describe, expect, it } from 'vitest';
import type { OpenIntent } from '../../../src/trading/executor.ts';
import { intentOf } from '../../store/sample-intents.ts';
import { PURCHASE } from '../../market/events.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { beginOnNewChain, recoverState } from '../../../src/daemon/run/recover.ts';
import { freshSnapshot, snapshotState } from '../../../src/trading/engine-state.ts';
import { step } from '../../../src/trading/step.ts';
import { WALLET, buy, outcome, stateWith, strategySetup } from '../../trading/states.ts';
import { SOL_MINT } from '../../../src/market/token.ts';
import { temporaryJournal } from '../../store/fixtures.ts';
import { SNAPSHOT } from '../../store/sample-intents.ts';
import { ORIGIN } from '../control-fixture.ts';
import { start } from '../session-fixture.ts';

/** Of a strategy that is not configured any more. */
const LEFT: OpenIntent = { intent: intentOf(7, { amountIn: PURCHASE as Amount }), state: 'submitted' };

describe('a session with an open swap of an earlier run', () => {
  it('resolves it although its strategy is no longer configured, then trades', async () => {
    const daemon = await start({ open: [LEFT] });
    expect(daemon.state.portfolio.books.get('dca')?.reserved.size ?? 0).toBe(0);
    expect(daemon.stamps.find(({ input }) => input.kind === 'outcome')?.input)
      .toMatchObject({ intentId: 'dca-7', state: 'expired' });
    expect(daemon.executed).toEqual(['ticker-1']);
  });

  it('resolves it in safe mode too, without trading', async () => {
    const daemon = await start({ open: [LEFT], crashes: 3 });
    expect([daemon.state.intents.size, daemon.executed, daemon.state.trading, daemon.state.tradingBy])
      .toEqual([0, [], 'halted', 'safe-mode']);
    expect(daemon.said).toContainEqual(expect.stringMatching(/^safe-mode: the last 3 runs/));
    expect(daemon.alerts).toContainEqual(expect.stringMatching(/^critical: safe mode/));
    expect(daemon.session.controlPort.request({ action: 'resume' }, ORIGIN)).toMatchObject({ trading: 'active' });
    await daemon.pass(20_000);
    expect(daemon.executed).toEqual(['ticker-1']);
  });

  it('reports what it waits for, and ends at once on request with the swap open for the next start', async () => {
    const daemon = await start({ open: [LEFT], leftover: 'nothing yet' });
    expect(daemon.session.controlPort.state())
      .toMatchObject({ phase: 'recovering', waits_for: ['the outcome of dca-7 (submitted)'] });
    expect(daemon.session.controlPort.health.waits()).toContainEqual({
      reason: 'RECOVERING', text: 'the run is recovering',
    });
    expect(await daemon.session.drain('stopped by the operator')).toMatchObject({ open: ['dca-7'] });
    expect(daemon.executed).toEqual([]);
  });
});

describe('issue 13.35: a swap of the last run that cannot be proven', () => {
  const UNPROVEN: OpenIntent = {
    intent: intentOf(7, { inputMint: SOL.mint, outputMint: USDC.mint, amountIn: 1_000n as Amount }), state: 'unknown',
  };

  it('delays strategies for half a minute, then locks only its input: other tokens trade, with an alert', async () => {
    const daemon = await start({ open: [UNPROVEN], leftover: 'nothing yet' });
    expect(daemon.session.controlPort.state().phase).toBe('recovering');
    await daemon.pass(20_000);
    await daemon.pass(20_000);
    expect(daemon.session.controlPort.state().phase).toBe('trading');
    expect(daemon.executed).toEqual(['ticker-1']);
    expect(daemon.alerts).toContainEqual(expect.stringMatching(
      /^warning: dca-7 of the last run could not be proven within 30s: .* nothing spends SOL until they are known/,
    ));
    daemon.land();
    expect(await daemon.session.drain('stopped by the operator')).toMatchObject({ open: ['dca-7'] });
  });

  it('is followed at the end for as long as the end may take', async () => {
    const daemon = await start({ open: [UNPROVEN], leftover: 'nothing yet' });
    await daemon.pass(20_000);
    await daemon.pass(20_000);
    expect(daemon.executed).toEqual(['ticker-1']);
    const drained = daemon.session.drain('the signer process is gone', 2_000);
    await daemon.pass(2_100);
    expect(await drained).toMatchObject({ open: ['dca-7', 'ticker-1'] });
  });

  it('keeps its own input locked', async () => {
    const daemon = await start({ open: [LEFT], leftover: 'nothing yet' });
    for (let time = 0; time < 3; time++) await daemon.pass(20_000);
    expect(daemon.session.controlPort.state())
      .toMatchObject({ phase: 'trading', denials: { INTENT_OPEN_FOR_MINT: expect.any(Number) } });
    expect(daemon.executed).toEqual([]);
  });
});

describe('issue 13.37: several swaps given up for the same cause', () => {
  it('raise an alert after five, and at each doubling', async () => {
    const daemon = await start({ swaps: 1_000 });
    for (let time = 0; time < 12; time++) {
      daemon.giveUp('CHAIN_RPC_ERROR', 'Minimum context slot has not been reached');
      await daemon.pass(10_000);
    }
    const told = daemon.alerts.filter((alert) => alert.includes('given up'));
    expect(told.map((alert) => /last (\d+) swaps/.exec(alert)?.[1])).toEqual(['5', '10']);
    expect(told[0]).toContain('CHAIN_RPC_ERROR: Minimum context slot has not been reached');
  });
});

describe('issue 13.39: a restart on an embedded chain', () => {
  it('drops keys and strategy states, and uses no intent id twice', () => {
    const journal = temporaryJournal();
    journal.saveSnapshot(SNAPSHOT, [], [{ strategy: 'dca', text: '{"next":2}', seen: [] }]);
    journal.intentApproved(intentOf(2, { key: 'slot-2' }));
    const { snapshot, open, restored } = beginOnNewChain(journal, new Map([[SOL_MINT, 7n as Amount]]));
    expect([snapshot.keys, open, restored]).toEqual([[], [], { states: {}, unseen: [] }]);
    expect(snapshot).toMatchObject({ wallet: { [SOL_MINT]: '7' }, intentCounts: { dca: 2 }, trading: 'reduce-only' });
    // So it is for the next start, too.
    expect([journal.loadSnapshot()?.keys, journal.loadStrategyStates().states]).toEqual([[], {}]);
  });
});

describe('issue 13.14: a kill between the journal row of an exit too large for one swap and the snapshot', () => {
  it('keeps the exit for the next process, which sells it in parts', () => {
    const journal = temporaryJournal();
    const books = { diver: { balances: { [SOL.mint]: '8000000000' }, feesLamports: '0', swaps: 0 } };
    const strategies = [strategySetup('diver')];
    const state = stateWith({ strategies, snapshot: { ...freshSnapshot(WALLET), books } });
    journal.saveSnapshot(snapshotState(state));
    const proposal = buy({
      inputMint: SOL.mint, outputMint: USDC.mint, key: 'one',
      amount: 8_000_000_000n as Amount, limit: 1_000_000n as Amount,
    });
    const effect = step(state, 1, 1_000, { kind: 'proposal', strategy: 'diver', proposal })?.effect;
    if (effect?.kind !== 'execute') throw new Error('expected the exit to be approved');
    journal.intentApproved(effect.intent);
    const tooLarge = outcome(effect.intent, 'abandoned', { code: 'IMPACT_EXCEEDS_MAX' });
    for (const told of [outcome(effect.intent, 'building'), tooLarge]) {
      journal.transition(told);
      step(state, 2, 2_000, told);
    }
    const { tokens, limits } = state;
    const { snapshot } = recoverState(journal, { tokens, limits, strategies }, undefined);
    expect(snapshot.exits).toMatchObject([{ left: '8000000000', limit: '1000000', reason: proposal.reason }]);
    expect(snapshot.keys).toEqual(snapshotState(state).keys);
  });
});
