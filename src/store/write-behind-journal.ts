import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { StateSnapshot } from '../trading/engine-state.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { JournalReads, JournalStore } from './journal.ts';

/** A journal that queues what the disk refuses, in order, and writes it as soon as the disk takes it. */
export interface WriteBehindJournal extends JournalStore {
  /** Returns whether something waits to be written: the file is then older than the state in memory. */
  readonly isBehind: () => boolean;
}

interface WriteBehindOptions {
  readonly clock: Clock;
  /** Called for each failed write with JOURNAL_FAILED. Returns whether room was made, so that a second try may help. */
  readonly onFault: (error: GannetError) => boolean;
  /** Called when writing works again and nothing waits any more. */
  readonly onWritten: () => void;
}

const RETRY_MS: Millis = 2_000;

/**
 * Returns a journal over another one, for a disk that may be full. It keeps in memory what has already happened until
 * it is written: outcomes, snapshots, strategy states. It refuses what is about to happen with JOURNAL_FAILED when that
 * cannot be written at once, after everything that waits: an intent, and signed bytes, which must not leave without
 * their row. An exit gets a second try where room could be made.
 */
export function createWriteBehindJournal(journal: JournalStore, options: WriteBehindOptions): WriteBehindJournal {
  const queue = new WriteQueue(journal, options);
  const exits = new Set<string>();
  /** Refused intents: nothing about them is ever written. */
  const refused = new Set<string>();
  /** Returns the journal for a read that must include everything known. */
  const upToDate = (): JournalStore => {
    queue.tryToFlush();
    return journal;
  };
  return {
    isBehind: () => queue.isWaiting,
    intentApproved(intent: Intent, strategyState) {
      const isExit = intent.purpose === 'exit';
      try {
        queue.writeNow(() => { journal.intentApproved(intent, strategyState); }, isExit);
      } catch (error) {
        refused.add(intent.id);
        throw error;
      }
      if (isExit) exits.add(intent.id);
    },
    attemptSigned(attempt) {
      queue.writeNow(() => { journal.attemptSigned(attempt); }, exits.has(attempt.intentId));
    },
    transition(outcome: Outcome) {
      if (isTerminal(outcome.state)) exits.delete(outcome.intentId);
      if (!refused.has(outcome.intentId)) queue.writeLater(() => { journal.transition(outcome); });
    },
    saveSnapshot: (snapshot, settled = [], states = []) => { queue.saveLater(snapshot, { settled, states, refused }); },
    walletAdjusted: (adjustment, snapshot) => {
      queue.replaceSnapshot(snapshot);
      queue.writeLater(() => { journal.walletAdjusted(adjustment, snapshot); });
    },
    runStarted: (runId) => { queue.writeLater(() => { journal.runStarted(runId); }); },
    runEnded: (runId) => { queue.writeLater(() => { journal.runEnded(runId); }); },
    // The next proof, a few seconds later, includes this one: a proof that cannot be written is dropped.
    keepProof: (attempt, progress) => { queue.writeIfIdle(() => { journal.keepProof(attempt, progress); }); },
    clearStrategyStates: () => { upToDate().clearStrategyStates(); },
    ...queuedReads(journal, upToDate),
    acceptAsIs: () => { journal.acceptAsIs(); },
    checkpoint: () => { journal.checkpoint(); },
    close: () => {
      try {
        queue.close();
      } finally {
        journal.close();
      }
    },
  };
}

/** Returns the reads of the journal: for decisions after a try to write what waits, for display as the file is. */
function queuedReads(
  journal: JournalStore, upToDate: () => JournalStore,
): JournalReads & Pick<JournalStore, 'standing'> {
  return {
    openIntents: () => upToDate().openIntents(),
    isSigned: (signature) => upToDate().isSigned(signature),
    proofOf: (attempt) => upToDate().proofOf(attempt),
    movesSince: (attempt, mint) => upToDate().movesSince(attempt, mint),
    unsettledOutcomes: () => upToDate().unsettledOutcomes(),
    loadStrategyStates: () => upToDate().loadStrategyStates(),
    loadSnapshot: () => upToDate().loadSnapshot(),
    isOwnTransaction: (signature) => upToDate().isOwnTransaction(signature),
    lastLanded: () => upToDate().lastLanded(),
    attemptsSince: (feePayer, at) => upToDate().attemptsSince(feePayer, at),
    listAdjustments: (limits) => journal.listAdjustments(limits),
    listIntents: (limits) => journal.listIntents(limits),
    showIntent: (intentId) => journal.showIntent(intentId),
    intentsOfKey: (key) => upToDate().intentsOfKey(key),
    listRuns: (limits) => journal.listRuns(limits),
    standing: () => journal.standing(),
  };
}

/** The latest snapshot with everything that the snapshots before it settled and saved. */
interface PendingSave {
  snapshot: StateSnapshot;
  readonly settled: Set<string>;
  readonly states: Map<string, StrategyState>;
}

type Pending = { readonly write: () => void } | { readonly save: PendingSave };

/** Writes that wait for the disk, in order; at most one of them is a saved snapshot. */
class WriteQueue {
  readonly #journal: JournalStore;
  readonly #options: WriteBehindOptions;
  readonly #pending: Pending[] = [];
  #isFaulty = false;
  #retry: { unsubscribe(): void } | undefined;

  constructor(journal: JournalStore, options: WriteBehindOptions) {
    this.#journal = journal;
    this.#options = options;
  }

  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  /** Writes everything that waits; after a fault tries again later. */
  tryToFlush(): void {
    for (let tries = 1; this.isWaiting; tries++) {
      try {
        this.#flush();
        this.#noteWritten();
      } catch (error) {
        if (this.#noteFault(error) && tries === 1) continue;
        this.#retry ??= this.#options.clock.schedule(() => {
          this.#retry = undefined;
          this.tryToFlush();
        }, RETRY_MS);
        return;
      }
    }
  }

  /** Writes behind everything that waits, and throws when that fails. A second try follows where room could be made. */
  writeNow(write: () => void, mayRetry: boolean): void {
    for (let tries = 1; ; tries++) {
      try {
        this.#flush();
        write();
        this.#noteWritten();
        return;
      } catch (error) {
        if (!this.#noteFault(error) || !mayRetry || tries > 1) throw error;
      }
    }
  }

  /** Writes as soon as the disk takes it. */
  writeLater(write: () => void): void {
    this.#pending.push({ write });
    this.tryToFlush();
  }

  /** Writes where nothing waits and the disk takes it, else not at all. */
  writeIfIdle(write: () => void): void {
    if (this.isWaiting) return;
    try {
      write();
      this.#noteWritten();
    } catch (error) {
      this.#noteFault(error);
    }
  }

  /** Saves as soon as the disk takes it, after everything that the snapshot includes; replaces a save that waits. */
  saveLater(snapshot: StateSnapshot, { settled, states, refused }: {
    readonly settled: Iterable<string>; readonly states: Iterable<StrategyState>; readonly refused: ReadonlySet<string>;
  }): void {
    const before = this.#pendingSave();
    if (before !== undefined) this.#pending.splice(this.#pending.indexOf(before), 1);
    const save: PendingSave = before?.save ?? { snapshot, settled: new Set(), states: new Map() };
    save.snapshot = snapshot;
    for (const intentId of settled) if (!refused.has(intentId)) save.settled.add(intentId);
    for (const state of states) {
      const seen = [...(save.states.get(state.strategy)?.seen ?? []), ...state.seen]
        .filter((intentId) => !refused.has(intentId));
      save.states.set(state.strategy, { ...state, seen });
    }
    this.#pending.push({ save });
    this.tryToFlush();
  }

  /** A waiting save must not be older than a snapshot that is written before it together with something else. */
  replaceSnapshot(snapshot: StateSnapshot): void {
    const waiting = this.#pendingSave();
    if (waiting !== undefined) waiting.save.snapshot = snapshot;
  }

  close(): void {
    this.#retry?.unsubscribe();
    this.#flush();
  }

  #pendingSave(): { readonly save: PendingSave } | undefined {
    return this.#pending.find((entry): entry is { readonly save: PendingSave } => 'save' in entry);
  }

  #flush(): void {
    while (this.isWaiting) {
      const next = this.#pending[0]!;
      if ('write' in next) next.write();
      else this.#journal.saveSnapshot(next.save.snapshot, next.save.settled, next.save.states.values());
      this.#pending.shift();
    }
  }

  #noteWritten(): void {
    if (this.#isFaulty) this.#options.onWritten();
    this.#isFaulty = false;
  }

  /** Returns whether a second try may help. Rethrows what is no fault of the disk. */
  #noteFault(error: unknown): boolean {
    if (!isGannetError(error) || error.code !== 'JOURNAL_FAILED') throw error;
    this.#isFaulty = true;
    return this.#options.onFault(error);
  }
}
