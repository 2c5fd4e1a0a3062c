import type { Amount } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { budgetOf } from '../trading/book-snapshot.ts';
import type { OpenIntent } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import { intentKey } from '../trading/recent-keys.ts';
import type { StateSnapshot, StrategySetup } from '../trading/state.ts';
import { createState, freshSnapshot, snapshotState } from '../trading/state.ts';
import { step } from '../trading/step.ts';
import type { RiskLimits } from '../trading/limits.ts';
import type { TokenTable } from '../market/token.ts';
import type { JournalStore } from '../store/journal.ts';
import type { StrategyLegacy } from '../trading/strategy-state.ts';
import { NO_LEGACY } from '../trading/strategy-state.ts';

/** Where a run begins: the state an earlier one left, and what it left open. */
export interface Recovered {
  readonly snapshot: StateSnapshot;
  readonly open: readonly OpenIntent[];
  /** What strategies kept, and what they have not heard of yet. */
  readonly legacy: StrategyLegacy;
}

/** What a run's state is made of besides its beginning. */
export interface StateSetup {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly strategies: readonly StrategySetup[];
}

/**
 * Returns the state in which the last process ended, brought up to date: outcomes that were written down after the last
 * snapshot are applied. The ledger's wallet goes on as it was; `wallet` is what there is at the very first start.
 */
export function recoverState(journal: JournalStore, setup: StateSetup, wallet: ReadonlyMap<Mint, Amount> | undefined): Recovered {
  const { snapshot, open, settledIntentIds } = readState(journal, setup, wallet);
  journal.saveSnapshot(snapshot, settledIntentIds);
  return { snapshot, open, legacy: legacyOf(journal, setup.strategies) };
}

/** Returns the same state and the intents whose outcomes it took in; the journal stays as it is. */
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
 * Returns the beginning of a run on a chain that did not exist before. What an earlier embedded chain held is gone with
 * it, and so is what strategies remember of it, their keys included: what was done there is not done here. Only names go on,
 * so that none is given twice.
 */
export function beginOnNewChain(journal: JournalStore, wallet: ReadonlyMap<Mint, Amount>): Recovered {
  for (const { intent, state, attempt } of journal.openIntents()) {
    const left = state === 'approved' || state === 'building' ? 'abandoned' : 'expired';
    if (state === 'approved') journal.transition({ kind: 'outcome', intentId: intent.id, attempt, state: 'building' });
    journal.transition({ kind: 'outcome', intentId: intent.id, attempt, state: left, code: 'CHAIN_GONE', reason: 'the embedded chain ended with its process' });
  }
  const saved = journal.loadSnapshot();
  const fresh = freshSnapshot(wallet);
  const snapshot = saved === undefined ? fresh : {
    ...fresh, intentCounts: saved.intentCounts,
    // What an operator said holds whatever chain it is.
    trading: saved.trading, tradingBy: saved.tradingBy, strategyTrading: saved.strategyTrading, flattening: saved.flattening, flattenOrders: saved.flattenOrders,
  };
  journal.saveSnapshot(snapshot, journal.unsettledOutcomes().map(({ intent }) => intent.id));
  journal.clearStrategyStates();
  return { snapshot, open: [], legacy: NO_LEGACY };
}

/** Of the strategies that run now: what the others kept stays where it is. */
function legacyOf(journal: JournalStore, strategies: readonly StrategySetup[]): StrategyLegacy {
  const { states, unseen } = journal.loadStrategyStates();
  const names = new Set(strategies.map(({ name }) => name));
  return {
    states: Object.fromEntries(Object.entries(states).filter(([name]) => names.has(name))),
    unseen: unseen.filter(({ intentId }) => names.has(intentId.slice(0, intentId.lastIndexOf('-')))),
  };
}

/** Applies outcomes through `step`, as the process would have done had it lived: with the budgets that it had. */
function settle(
  setup: StateSetup, saved: StateSnapshot, unsettled: ReturnType<JournalStore['unsettledOutcomes']>,
): StateSnapshot {
  const state = createState({
    ...setup, snapshot: saved,
    strategies: setup.strategies.map((strategy) => ({ ...strategy, budget: budgetOf(saved.books[strategy.name]) ?? strategy.budget })),
    open: unsettled.map(({ intent, outcome }) => ({ intent, state: stateBefore(outcome) })),
  });
  for (const { intent } of unsettled) {
    if (intent.purpose !== 'exit') continue;
    state.exitProposals.set(intent.id, proposalOf(intent));
    // The process that ended had it too: it stays where the engine goes on with the exit.
    if (intent.key !== undefined) state.keys.add(intentKey(intent.strategy, intent.key));
  }
  for (const { outcome, at } of unsettled) step(state, 0, at, outcome);
  return snapshotState(state);
}

/**
 * Returns what the exit asked for, as its row tells it: an exit that was too large for one swap goes on in parts. The
 * row's least output stands for the strategy's own limit, which it is never below.
 */
function proposalOf(intent: Intent): SwapProposal {
  const { inputMint, outputMint, amountIn, minimumOut, maxSlippageBps, route, reason, key } = intent;
  const terms = { limit: minimumOut, slippageBps: maxSlippageBps, route };
  return { kind: 'swap', inputMint, outputMint, amount: amountIn, ...terms, reason, key };
}

/** A state from which the outcome can follow. */
function stateBefore({ state }: Outcome): OpenIntent['state'] {
  return state === 'abandoned' ? 'building' : 'submitted';
}
