import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Attempt, BalanceMove, ProofProgress } from '../trading/attempt.ts';
import type { Intent, IntentState, Outcome } from '../trading/intent.ts';
import type { StateSnapshot } from '../trading/state.ts';
import type { StrategyLegacy, StrategyState } from '../trading/strategy-state.ts';
import type { WalletAdjustment, WalletAdjustmentRecord } from './adjustments.ts';
import { createAdjustments } from './adjustments.ts';
import { openDatabase } from './database.ts';
import type { EndedIntent, OpenIntentRecord } from './intents.ts';
import { createIntents } from './intents.ts';
import type { JournalPosition } from './journal-head.ts';
import { isEmpty, lackingEnd, openJournalHead, positionOf } from './journal-head.ts';
import type { IntentListing, IntentStory } from './listing.ts';
import { createListings } from './listing.ts';
import { isOwn, lastLanded } from './own-transactions.ts';
import type { RunRecord } from './runs.ts';
import { createRuns } from './runs.ts';
import { JOURNAL } from './schema.ts';
import { createSavedSnapshot } from './snapshot.ts';
import { createStrategyStates } from './strategy-states.ts';
import { createTransactor } from './transactor.ts';

export type { EndedIntent, OpenIntentRecord } from './intents.ts';
export type { RunRecord } from './runs.ts';

/** Whether a journal holds all that was written into it. */
export interface JournalStanding {
  /** Whether nothing was ever written into this file. */
  readonly isNew: boolean;
  /** How far the journal went once, where this file does not go as far: its WAL was lost, or it is an older copy. */
  readonly wentTo: JournalPosition | undefined;
  readonly position: JournalPosition;
  /** When an operator last took it for whole as it was; 0 where that never happened. */
  readonly acceptedAt: Millis;
}

/** Durable memory of intents. Each method that writes does so in one transaction, which is on disk when it returns. */
export interface JournalStore {
  /** With what its strategy keeps as of it: both are written, or neither is. */
  intentApproved(intent: Intent, strategyState?: StrategyState): void;
  /** Must return before the first byte of the transaction leaves. */
  attemptSigned(attempt: Attempt): void;
  /** Moves an intent on. */
  transition(outcome: Outcome): void;
  /** Oldest first. */
  openIntents(): readonly OpenIntentRecord[];
  /** Returns whether a transaction with this signature of ours was written down before, for whatever intent. */
  isSigned(signature: string): boolean;
  /** Returns how far the proof of an attempt has come; undefined where nothing is known of it. */
  proofOf(attempt: Pick<Attempt, 'intentId' | 'number'>): ProofProgress | undefined;
  /** Keeps how far it has come. */
  keepProof(attempt: Pick<Attempt, 'intentId' | 'number'>, progress: ProofProgress): void;
  /** What other intents that ended since an attempt was begun did to the wallet's balance of a mint. */
  movesSince(attempt: Pick<Attempt, 'intentId' | 'number'>, mint: Mint): readonly BalanceMove[];
  /**
   * Terminal outcomes that no saved snapshot holds yet, in the order in which they came: to be applied after a restart.
   */
  unsettledOutcomes(): readonly EndedIntent[];
  /**
   * Keeps the state from which a restart goes on and what strategies want to find again, and notes whose outcomes they
   * hold.
   */
  saveSnapshot(
    snapshot: StateSnapshot, settledIntentIds?: Iterable<string>, strategyStates?: Iterable<StrategyState>,
  ): void;
  /** Returns what strategies kept, and the last outcomes of their intents that it does not hold. */
  loadStrategyStates(): StrategyLegacy;
  /** Lets all strategies begin anew. */
  clearStrategyStates(): void;
  /**
   * Returns the saved state with the keys, counters and approvals of every intent journalled since; undefined before
   * the first save.
   */
  loadSnapshot(): StateSnapshot | undefined;
  /** Newest first, as `gannet journal list` prints them. */
  listIntents(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  /** Returns an intent with its transitions, undefined where there is none of this name. */
  showIntent(intentId: string): IntentStory | undefined;
  /** Notes by what the chain's balances differed from the ledger's, with the state that holds it. */
  walletAdjusted(adjustment: WalletAdjustment, snapshot: StateSnapshot): void;
  /** Newest first. */
  listAdjustments(options: { readonly limit: number }): readonly WalletAdjustmentRecord[];
  /** Returns whether a transaction, by its id, is one that was made for an intent, whoever paid for it. */
  isOwnTransaction(signature: string): boolean;
  /** Returns the id of the transaction that the last swap landed as; undefined before the first one. */
  lastLanded(): string | undefined;
  runStarted(runId: string): void;
  /** The end of a run that somebody ordered; said again, the later time counts. */
  runEnded(runId: string): void;
  /** Newest first. */
  listRuns(options: { readonly limit: number }): readonly RunRecord[];
  /** Returns whether the file holds what was written into it before it was opened. */
  standing(): JournalStanding;
  /** Takes the file for whole as it is, on an operator's word. */
  acceptAsIs(): void;
  /** Returns how many attempts that a wallet pays for were signed after a time. */
  attemptsSince(feePayer: string, at: Millis): number;
  /**
   * Brings the main file up to date with its WAL, so that a copy of it is not old; open readers may hold a part back.
   */
  checkpoint(): void;
  close(): void;
}

/**
 * Opens the journal at a path, made where it is missing. Its methods throw JOURNAL_FAILED where the disk does not take
 * the row, and assert what only a bug can break: order of states, names given twice.
 * Throws JOURNAL_INVALID on a foreign, broken or newer file.
 */
export function openJournal({ path, clock, onHeadFault }: {
  readonly path: string;
  readonly clock: Clock;
  /** Told once where it cannot be noted how far the journal goes: a lost WAL is then noticed less surely. */
  readonly onHeadFault?: ((error: unknown) => void) | undefined;
}): JournalStore {
  const head = openJournalHead(path);
  const { prepare, commit: transact, read, checkpoint, close } =
    createTransactor(openDatabase(path, JOURNAL), path, JOURNAL);
  const intents = createIntents(prepare);
  const snapshot = createSavedSnapshot(prepare);
  const strategyStates = createStrategyStates(prepare);
  const adjustments = createAdjustments(prepare);
  const listings = createListings(prepare);
  const runs = createRuns(prepare);

  const opened = positionOf(prepare);
  /** What is missing stays noted until an operator accepts it. */
  let wentTo = lackingEnd(head, opened);
  let isHeadFaulty = false;

  function noteHead(acceptedAt?: Millis): void {
    try {
      if (wentTo === undefined) head.write(positionOf(prepare), { acceptedAt });
      else head.write(wentTo, { isDiverged: true });
      isHeadFaulty = false;
    } catch (error) {
      // What was committed is committed, whatever becomes of the note.
      if (!isHeadFaulty) onHeadFault?.(error);
      isHeadFaulty = true;
    }
  }
  function commit(work: () => void): void {
    transact(work);
    noteHead();
  }

  function putSnapshot(state: StateSnapshot, settledIntentIds: Iterable<string>): void {
    snapshot.put(state, clock.now());
    for (const intentId of settledIntentIds) intents.settle(intentId);
  }
  function putStrategyStates(states: Iterable<StrategyState>): void {
    for (const state of states) strategyStates.put(state, clock.now());
  }

  return {
    intentApproved: (intent, strategyState) => {
      commit(() => {
        intents.approve(intent);
        if (strategyState !== undefined) putStrategyStates([strategyState]);
      });
    },
    attemptSigned: (attempt) => { commit(() => { intents.sign(attempt, clock.now()); }); },
    transition: (outcome) => { commit(() => { intents.move(outcome, clock.now()); }); },
    openIntents: () => read(() => intents.open()),
    isSigned: (signature) => read(() => intents.isSigned(signature)),
    proofOf: (attempt) => read(() => intents.proofOf(attempt)),
    keepProof: (attempt, progress) => { commit(() => { intents.keepProof(attempt, progress); }); },
    movesSince: (attempt, mint) => read(() => intents.movesSince(attempt, mint)),
    unsettledOutcomes: () => read(() => intents.unsettled()),
    saveSnapshot: (state, settledIntentIds = [], states = []) => {
      commit(() => {
        putSnapshot(state, settledIntentIds);
        putStrategyStates(states);
      });
    },
    loadStrategyStates: () => read(() => strategyStates.load()),
    clearStrategyStates: () => { commit(() => { strategyStates.clear(); }); },
    loadSnapshot: () => read(() => snapshot.load()),
    listIntents: (options) => read(() => listings.list(options)),
    showIntent: (intentId) => read(() => listings.show(intentId)),
    walletAdjusted: (adjustment, state) => {
      commit(() => {
        adjustments.put(adjustment, clock.now());
        putSnapshot(state, []);
      });
    },
    listAdjustments: (options) => read(() => adjustments.list(options)),
    isOwnTransaction: (signature) => read(() => isOwn(prepare, signature)),
    lastLanded: () => read(() => lastLanded(prepare)),
    runStarted: (runId) => { commit(() => { runs.started(runId, clock.now()); }); },
    runEnded: (runId) => { commit(() => { runs.ended(runId, clock.now()); }); },
    listRuns: (options) => read(() => runs.list(options)),
    standing: () => ({ isNew: isEmpty(opened), wentTo, position: opened, acceptedAt: head.acceptedAt }),
    acceptAsIs: () => {
      wentTo = undefined;
      noteHead(clock.now());
    },
    attemptsSince: (feePayer, at) => read(() => intents.attemptsSince(feePayer, at)),
    checkpoint,
    close: () => {
      head.close();
      close();
    },
  };
}
