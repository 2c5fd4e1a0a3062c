import type { Amount } from '../../core/amount.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { JournalStore } from '../../store/journal.ts';
import { budgetOf } from '../../trading/book-snapshot.ts';
import type { OpenIntent } from '../../trading/executor.ts';
import type { Intent, Outcome } from '../../trading/intent.ts';
import type { RiskLimits } from '../../trading/limits.ts';
import type { SwapProposal } from '../../trading/proposal.ts';
import { intentKey } from '../../trading/recent-keys.ts';
import type { StateSnapshot, StrategySetup } from '../../trading/engine-state.ts';
import { createState, freshSnapshot, snapshotState } from '../../trading/engine-state.ts';
import { step } from '../../trading/step.ts';
import type { RestoredStates } from '../../trading/strategy-state.ts';
import { NO_RESTORED_STATES } from '../../trading/strategy-state.ts';

/** The state that an earlier run left, and its open intents. */
export interface Recovered {
  readonly snapshot: StateSnapshot;
  readonly open: readonly OpenIntent[];
  /** The states of strategies, and outcomes that they have not seen yet. */
  readonly restored: RestoredStates;
}

/** The configured part of a run's state. */
export interface StateSetup {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly strategies: readonly StrategySetup[];
}

/**
 * Returns the state of the last process, with the outcomes applied that the journal got after the last snapshot. The
 * ledger continues; `wallet` is its content at the first start.
 */
export function recoverState(
  journal: JournalStore, setup: StateSetup, wallet: ReadonlyMap<Mint, Amount> | undefined,
): Recovered {
  const { snapshot, open, settledIntentIds } = readState(journal, setup, wallet);
  journal.saveSnapshot(snapshot, settledIntentIds);
  return { snapshot, open, restored: restoredStrategies(journal, setup.strategies) };
}

/** Returns the same state and the intents whose outcomes were applied, without a change to the journal. */
export function readState(
  journal: Pick<JournalStore, 'loadSnapshot' | 'unsettledOutcomes' | 'openIntents'>, setup: StateSetup,
  wallet: ReadonlyMap<Mint, Amount> | undefined,
): Pick<Recovered, 'snapshot' | 'open'> & { readonly settledIntentIds: readonly string[] } {
  const saved = journal.loadSnapshot() ?? freshSnapshot(wallet ?? new Map());
  const unsettled = journal.unsettledOutcomes();
  return {
    snapshot: unsettled.length === 0 ? saved : settle(setup, saved, unsettled),
    open: journal.openIntents().map(({ intent, state }) => ({ intent, state })),
    settledIntentIds: unsettled.map(({ intent }) => intent.id),
  };
}

/**
 * Returns the state of a run on a new embedded chain. Balances, strategy states and keys of the earlier chain are
 * dropped, because nothing of that chain exists here. Only intent counts continue, so that no intent id is used twice.
 */
export function beginOnNewChain(journal: JournalStore, wallet: ReadonlyMap<Mint, Amount>): Recovered {
  for (const { intent, state, attempt } of journal.openIntents()) {
    const left = state === 'approved' || state === 'building' ? 'abandoned' : 'expired';
    if (state === 'approved') journal.transition({ kind: 'outcome', intentId: intent.id, attempt, state: 'building' });
    journal.transition({
      kind: 'outcome', intentId: intent.id, attempt, state: left, code: 'CHAIN_GONE',
      reason: 'the embedded chain ended with its process',
    });
  }
  const saved = journal.loadSnapshot();
  const fresh = freshSnapshot(wallet);
  const snapshot = saved === undefined ? fresh : {
    ...fresh, intentCounts: saved.intentCounts,
    // Commands of the operator apply on any chain.
    trading: saved.trading, tradingBy: saved.tradingBy, strategyTrading: saved.strategyTrading,
    flattening: saved.flattening, flattenOrders: saved.flattenOrders,
    ...(saved.pauses === undefined ? {} : { pauses: saved.pauses }),
  };
  journal.saveSnapshot(snapshot, journal.unsettledOutcomes().map(({ intent }) => intent.id));
  journal.clearStrategyStates();
  if (saved !== undefined) journal.ledgerBegun();
  return { snapshot, open: [], restored: NO_RESTORED_STATES };
}

/** Returns what the configured strategies left. The states of other strategies stay in the journal. */
function restoredStrategies(journal: JournalStore, strategies: readonly StrategySetup[]): RestoredStates {
  const { states, unseen } = journal.loadStrategyStates();
  const names = new Set(strategies.map(({ name }) => name));
  return {
    states: Object.fromEntries(Object.entries(states).filter(([name]) => names.has(name))),
    unseen: unseen.filter(({ intentId }) => names.has(intentId.slice(0, intentId.lastIndexOf('-')))),
  };
}

/** Applies outcomes through `step` as the last process would have done, with its budgets. */
function settle(
  setup: StateSetup, saved: StateSnapshot, unsettled: ReturnType<JournalStore['unsettledOutcomes']>,
): StateSnapshot {
  const state = createState({
    ...setup, snapshot: saved,
    strategies: setup.strategies.map((strategy) =>
      ({ ...strategy, budget: budgetOf(saved.books[strategy.name]) ?? strategy.budget })),
    open: unsettled.map(({ intent, outcome }) => ({ intent, state: stateBefore(outcome) })),
  });
  for (const { intent } of unsettled) {
    if (intent.purpose !== 'exit') continue;
    state.exitProposals.set(intent.id, proposalOf(intent));
    // The last process had this key. It remains where the engine continues the exit.
    if (intent.key !== undefined) state.keys.add(intentKey(intent.strategy, intent.key));
  }
  for (const { outcome, at } of unsettled) step(state, 0, at, outcome);
  return snapshotState(state);
}

/**
 * Returns the proposal of an exit from its row in the journal, because an exit too large for one swap continues in
 * parts. The row's least output replaces the strategy's own limit, and is never below it.
 */
function proposalOf(intent: Intent): SwapProposal {
  const { inputMint, outputMint, amountIn, minimumOut, maxSlippageBps, route, reason, key, tag } = intent;
  const terms = { limit: minimumOut, slippageBps: maxSlippageBps, route };
  return { kind: 'swap', inputMint, outputMint, amount: amountIn, ...terms, reason, key, tag };
}

/** Returns a state from which the outcome can follow. */
function stateBefore({ state }: Outcome): OpenIntent['state'] {
  return state === 'abandoned' ? 'building' : 'submitted';
}
