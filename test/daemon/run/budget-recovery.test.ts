import { expect, it } from 'vitest';
import { recoverState } from '../../../src/daemon/run/recover.ts';
import { createState, snapshotState } from '../../../src/trading/engine-state.ts';
import { TOKENS, USDC } from '../../market/tokens.ts';
import { temporaryJournal } from '../../store/fixtures.ts';
import { usdc } from '../../trading/protected-states.ts';
import { approve, buy, outcome, stateWith, strategySetup, WIDE } from '../../trading/states.ts';

it('a lowered budget does not touch an open swap, although another one ended after the last snapshot', () => {
  const journal = temporaryJournal();
  const state = stateWith({ strategies: [strategySetup('diver'), strategySetup('other')] });
  const ended = approve(state, buy({ amount: 50_000_000n as never }), { strategy: 'other' });
  state.intents.delete(ended.id);
  const open = approve(state, buy({ amount: 400_000_000n as never }));
  journal.saveSnapshot(snapshotState(state));
  for (const intent of [ended, open]) {
    journal.intentApproved(intent);
    for (const reached of ['building', 'signed', 'submitted'] as const) journal.transition(outcome(intent, reached));
  }
  journal.transition(outcome(ended, 'expired'));

  const setup = {
    tokens: TOKENS, limits: WIDE,
    strategies: [strategySetup('diver', { budget: usdc(10) }), strategySetup('other', { budget: usdc(10) })],
  };
  const { snapshot, open: left } = recoverState(journal, setup, undefined);
  expect([snapshot.books['diver']?.balances, snapshot.books['other']?.balances])
    .toEqual([{ [USDC.mint]: '500000000' }, { [USDC.mint]: '500000000' }]);
  const { portfolio } = createState({ ...setup, snapshot, open: left });
  expect(['diver', 'other'].map((name) => portfolio.book(name).balances.get(USDC.mint)))
    .toEqual([400_000_000n, 10_000_000n]);
});
