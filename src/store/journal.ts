import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Attempt, BalanceMove, ProofProgress } from '../trading/attempt.ts';
import type { Intent, IntentState, Outcome } from '../trading/intent.ts';
import type { StateSnapshot } from '../trading/engine-state.ts';
import type { RestoredStates, StrategyState } from '../trading/strategy-state.ts';
import type { Transactor } from './database.ts';
import { createTransactor, openDatabase } from './database.ts';
import type { EndedIntent, OpenIntentRecord } from './intents.ts';
import { createIntents } from './intents.ts';
import type { JournalPosition } from './journal-head.ts';
import { createHeadKeeper, isEmpty, openJournalHead, positionOf } from './journal-head.ts';
import type { IntentListing, IntentStory } from './journal-listing.ts';
import { createListings } from './journal-listing.ts';
import type { RunRecord, WalletAdjustment, WalletAdjustmentRecord } from './journal-records.ts';
import { createAdjustments, createRuns, isOwnTransaction, lastLanded } from './journal-records.ts';
import { JOURNAL } from './journal-schema.ts';
import { createSavedSnapshot, createStrategyStates } from './saved-state.ts';

export type { EndedIntent, OpenIntentRecord } from './intents.ts';
export type { RunRecord } from './journal-records.ts';

/** Whether a journal holds everything that was written into it. */
interface JournalStanding {
  /** Whether nothing was ever written into this file. */
  readonly isNew: boolean;
  /** How far the journal went once, where this file does not go as far: its WAL was lost, or it is an older copy. */
  readonly writtenTo: JournalPosition | undefined;
  readonly position: JournalPosition;
  /** When an operator last accepted the file as complete; 0 where that never happened. */
  readonly acceptedAt: Millis;
}

/** Durable memory of intents. Each method that writes does so in one transaction, which is on disk when it returns. */
export interface JournalStore {
  /** Writes an intent and the state of its strategy: both are written, or neither is. */
  intentApproved(intent: Intent, strategyState?: StrategyState): void;
  /** Must return before the first byte of the transaction leaves. */
  attemptSigned(attempt: Attempt): void;
  /** Moves an intent to its next state. */
  transition(outcome: Outcome): void;
  /** Returns the open intents, oldest first. */
  openIntents(): readonly OpenIntentRecord[];
  /** Returns whether a transaction with this signature of ours was journalled before, for any intent. */
  isSigned(signature: string): boolean;
  /** Returns how far the expiry proof of an attempt has come; undefined where none was kept. */
  proofOf(attempt: Pick<Attempt, 'intentId' | 'number'>): ProofProgress | undefined;
  /** Keeps how far the expiry proof of an attempt has come. */
  keepProof(attempt: Pick<Attempt, 'intentId' | 'number'>, progress: ProofProgress): void;
  /** Returns how other intents that ended since the start of an attempt changed the wallet's balance of a mint. */
  movesSince(attempt: Pick<Attempt, 'intentId' | 'number'>, mint: Mint): readonly BalanceMove[];
  /** Returns terminal outcomes that no saved snapshot includes yet, in their order, to be applied after a restart. */
  unsettledOutcomes(): readonly EndedIntent[];
  /** Saves the state for a restart and the states of strategies, and notes the intents whose outcomes they include. */
  saveSnapshot(
    snapshot: StateSnapshot, settledIntentIds?: Iterable<string>, strategyStates?: Iterable<StrategyState>,
  ): void;
  /** Returns the saved states of strategies, and the last outcomes of their intents that the states do not include. */
  loadStrategyStates(): RestoredStates;
  /** Removes the states of all strategies, so that they start without one. */
  clearStrategyStates(): void;
  /**
   * Returns the saved state with the keys, counters and approvals of every intent journalled since; undefined before
   * the first save.
   */
  loadSnapshot(): StateSnapshot | undefined;
  /** Returns intents as `gannet journal list` prints them, newest first. */
  listIntents(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  /** Returns an intent with its transitions, undefined where there is none of this name. */
  showIntent(intentId: string): IntentStory | undefined;
  /** Returns the intents of a proposal's key, oldest first. It reads every row, so it is for a person's question. */
  intentsOfKey(key: string): readonly IntentStory[];
  /** Notes the difference between the chain's balance and the ledger's, with the state that includes it. */
  walletAdjusted(adjustment: WalletAdjustment, snapshot: StateSnapshot): void;
  /** Returns adjustments, newest first. */
  listAdjustments(options: { readonly limit: number }): readonly WalletAdjustmentRecord[];
  /** Returns whether a transaction, by its id, was made for an intent, including transactions paid for by others. */
  isOwnTransaction(signature: string): boolean;
  /** Returns the transaction id of the last swap that landed; undefined before the first one. */
  lastLanded(): string | undefined;
  runStarted(runId: string): void;
  /** Notes the ordered end of a run. When called twice, the later time counts. */
  runEnded(runId: string): void;
  /** Returns runs, newest first. */
  listRuns(options: { readonly limit: number }): readonly RunRecord[];
  /** Returns whether the file still holds what was written into it before it was opened. */
  standing(): JournalStanding;
  /** Accepts the file as complete, on an operator's order. */
  acceptAsIs(): void;
  /** Returns how many attempts with this fee payer were signed after a time. */
  attemptsSince(feePayer: string, at: Millis): number;
  /** Copies the WAL into the main file, so that a copy of it is current; open readers may hold a part back. */
  checkpoint(): void;
  close(): void;
}

/**
 * Opens the journal at a path, and creates it where it is missing. Its methods throw JOURNAL_FAILED where the disk does
 * not take the row, and assert what only a bug can break: the order of states, unique names.
 * Throws JOURNAL_INVALID on a foreign, broken or newer file.
 */
export function openJournal({ path, clock, onHeadFault }: {
  readonly path: string;
  readonly clock: Clock;
  /** Called once when the extent of the journal cannot be noted: the loss of a WAL may then go unnoticed. */
  readonly onHeadFault?: ((error: unknown) => void) | undefined;
}): JournalStore {
  const head = openJournalHead(path);
  const transactor = createTransactor(openDatabase(path, JOURNAL), path, JOURNAL);
  const { prepare, checkpoint } = transactor;
  const intents = createIntents(prepare);
  const snapshot = createSavedSnapshot(prepare);
  const strategyStates = createStrategyStates(prepare);
  const adjustments = createAdjustments(prepare);
  const runs = createRuns(prepare);
  const opened = positionOf(prepare);
  const keeper = createHeadKeeper(head, prepare, onHeadFault);

  const commit = (work: (at: Millis) => void): void => {
    transactor.commit(() => { work(clock.now()); });
    keeper.note();
  };

  return {
    ...createJournalReads(transactor),
    intentApproved: (intent, strategyState) => {
      commit((at) => {
        intents.approve(intent);
        if (strategyState !== undefined) strategyStates.put(strategyState, at);
      });
    },
    attemptSigned: (attempt) => { commit((at) => { intents.sign(attempt, at); }); },
    transition: (outcome) => { commit((at) => { intents.move(outcome, at); }); },
    keepProof: (attempt, progress) => { commit(() => { intents.keepProof(attempt, progress); }); },
    saveSnapshot: (state, settledIntentIds = [], states = []) => {
      commit((at) => {
        snapshot.put(state, at);
        for (const intentId of settledIntentIds) intents.settle(intentId);
        for (const strategyState of states) strategyStates.put(strategyState, at);
      });
    },
    clearStrategyStates: () => { commit(() => { strategyStates.clear(); }); },
    walletAdjusted: (adjustment, state) => {
      commit((at) => {
        adjustments.put(adjustment, at);
        snapshot.put(state, at);
      });
    },
    runStarted: (runId) => { commit((at) => { runs.started(runId, at); }); },
    runEnded: (runId) => { commit((at) => { runs.ended(runId, at); }); },
    standing: () =>
      ({ isNew: isEmpty(opened), writtenTo: keeper.writtenTo, position: opened, acceptedAt: head.acceptedAt }),
    acceptAsIs: () => { keeper.accept(clock.now()); },
    checkpoint,
    close: () => {
      head.close();
      transactor.close();
    },
  };
}

/** The reads of a journal. */
export type JournalReads = Pick<JournalStore,
  'openIntents' | 'isSigned' | 'proofOf' | 'movesSince' | 'unsettledOutcomes' | 'loadStrategyStates' | 'loadSnapshot'
  | 'listIntents' | 'showIntent' | 'intentsOfKey' | 'listAdjustments' | 'isOwnTransaction' | 'lastLanded' | 'listRuns'
  | 'attemptsSince'>;

/** Returns the reads of a journal, each in a transaction of its own. */
export function createJournalReads({ prepare, read }: Transactor): JournalReads {
  const intents = createIntents(prepare);
  const snapshot = createSavedSnapshot(prepare);
  const strategyStates = createStrategyStates(prepare);
  const adjustments = createAdjustments(prepare);
  const listings = createListings(prepare);
  const runs = createRuns(prepare);
  return {
    openIntents: () => read(() => intents.open()),
    isSigned: (signature) => read(() => intents.isSigned(signature)),
    proofOf: (attempt) => read(() => intents.proofOf(attempt)),
    movesSince: (attempt, mint) => read(() => intents.movesSince(attempt, mint)),
    unsettledOutcomes: () => read(() => intents.unsettled()),
    loadStrategyStates: () => read(() => strategyStates.load()),
    loadSnapshot: () => read(() => snapshot.load()),
    listIntents: (options) => read(() => listings.list(options)),
    showIntent: (intentId) => read(() => listings.show(intentId)),
    intentsOfKey: (key) => read(() => listings.ofKey(key)),
    listAdjustments: (options) => read(() => adjustments.list(options)),
    isOwnTransaction: (signature) => read(() => isOwnTransaction(prepare, signature)),
    lastLanded: () => read(() => lastLanded(prepare)),
    listRuns: (options) => read(() => runs.list(options)),
    attemptsSince: (feePayer, at) => read(() => intents.attemptsSince(feePayer, at)),
  };
}
