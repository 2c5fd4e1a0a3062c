import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { StateSnapshot } from '../trading/state.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { JournalStore } from './journal.ts';

/** A journal that keeps what the disk does not take now, in order, and writes it as soon as it does. */
export interface PatientJournal extends JournalStore {
  /** Whether something waits to be written: what the file says is older than what is true. */
  readonly isBehind: () => boolean;
}

const RETRY_MS: Millis = 2_000;

/** What is to be kept for the next start: the newest of each, and all that they hold. */
interface Keeping {
  snapshot: StateSnapshot;
  readonly settled: Set<string>;
  readonly states: Map<string, StrategyState>;
}

type Waiting = { readonly write: () => void } | { readonly keeping: Keeping };

/**
 * Returns a journal over another one for a disk that may be full. What has happened already is kept in memory until it
 * is written: outcomes, snapshots, what strategies keep. What is about to happen is refused with JOURNAL_FAILED where
 * it cannot be written at once, behind all that waits: an intent, and signed bytes, which must not leave without their
 * row. For an exit it is tried a second time where room could be made.
 */
export function createPatientJournal(journal: JournalStore, options: {
  readonly clock: Clock;
  /**
   * Told of each write that failed, JOURNAL_FAILED; returns whether room was made, so that it may be tried again at
   * once.
   */
  readonly onFault: (error: GannetError) => boolean;
  /** Told when writing works again, and all that waited is written. */
  readonly onWritten: () => void;
}): PatientJournal {
  const { clock } = options;
  const waiting: Waiting[] = [];
  const exits = new Set<string>();
  /** Refused intents: nothing of them is ever written. */
  const refused = new Set<string>();
  let isFaulty = false;
  let retry: { unsubscribe(): void } | undefined;

  function flush(): void {
    while (waiting.length > 0) {
      const next = waiting[0]!;
      if ('write' in next) next.write();
      else writeKeeping(next.keeping);
      waiting.shift();
    }
  }

  /** Everything there is to write is written. */
  function written(): void {
    if (isFaulty) options.onWritten();
    isFaulty = false;
  }

  function writeKeeping({ snapshot, settled, states }: Keeping): void {
    journal.saveSnapshot(snapshot, settled, states.values());
  }

  /** Returns whether another try may help. Throws what is no fault of the disk. */
  function heed(error: unknown): boolean {
    if (!isGannetError(error) || error.code !== 'JOURNAL_FAILED') throw error;
    isFaulty = true;
    return options.onFault(error);
  }

  function tryToFlush(): void {
    for (let tries = 1; waiting.length > 0; tries++) {
      try {
        flush();
        written();
      } catch (error) {
        if (heed(error) && tries === 1) continue;
        retry ??= clock.schedule(() => {
          retry = undefined;
          tryToFlush();
        }, RETRY_MS);
        return;
      }
    }
  }

  function later(write: () => void): void {
    waiting.push({ write });
    tryToFlush();
  }

  function atOnce(write: () => void, isExit: boolean): void {
    for (let tries = 1; ; tries++) {
      try {
        flush();
        write();
        written();
        return;
      } catch (error) {
        if (!heed(error) || !isExit || tries > 1) throw error;
      }
    }
  }

  /** A state that is kept later must not be older than one that is written with something else before it. */
  function outdate(snapshot: StateSnapshot): void {
    const kept = waiting.find((entry): entry is { keeping: Keeping } => 'keeping' in entry);
    if (kept !== undefined) kept.keeping.snapshot = snapshot;
  }

  /** The last of its kind holds what those before it held; it goes behind everything that it may speak of. */
  function keep(snapshot: StateSnapshot, settled: Iterable<string>, states: Iterable<StrategyState>): void {
    const before = waiting.find((entry): entry is { keeping: Keeping } => 'keeping' in entry);
    if (before !== undefined) waiting.splice(waiting.indexOf(before), 1);
    const keeping = before?.keeping
      ?? { snapshot, settled: new Set<string>(), states: new Map<string, StrategyState>() };
    keeping.snapshot = snapshot;
    for (const intentId of settled) if (!refused.has(intentId)) keeping.settled.add(intentId);
    for (const state of states) {
      const seen = [...(keeping.states.get(state.strategy)?.seen ?? []), ...state.seen]
        .filter((intentId) => !refused.has(intentId));
      keeping.states.set(state.strategy, { ...state, seen });
    }
    waiting.push({ keeping });
    tryToFlush();
  }

  /** For readings that must know all there is. */
  function upToDate(): JournalStore {
    tryToFlush();
    return journal;
  }

  return {
    isBehind: () => waiting.length > 0,
    intentApproved(intent: Intent, strategyState) {
      const isExit = intent.purpose === 'exit';
      try {
        atOnce(() => { journal.intentApproved(intent, strategyState); }, isExit);
      } catch (error) {
        refused.add(intent.id);
        throw error;
      }
      if (isExit) exits.add(intent.id);
    },
    attemptSigned(attempt) {
      atOnce(() => { journal.attemptSigned(attempt); }, exits.has(attempt.intentId));
    },
    transition(outcome: Outcome) {
      if (isTerminal(outcome.state)) exits.delete(outcome.intentId);
      if (refused.has(outcome.intentId)) return;
      later(() => { journal.transition(outcome); });
    },
    saveSnapshot: (snapshot, settled = [], states = []) => { keep(snapshot, settled, states); },
    walletAdjusted: (adjustment, snapshot) => {
      outdate(snapshot);
      later(() => { journal.walletAdjusted(adjustment, snapshot); });
    },
    runStarted: (runId) => { later(() => { journal.runStarted(runId); }); },
    runEnded: (runId) => { later(() => { journal.runEnded(runId); }); },
    clearStrategyStates: () => { upToDate().clearStrategyStates(); },
    openIntents: () => upToDate().openIntents(),
    isSigned: (signature) => upToDate().isSigned(signature),
    proofOf: (attempt) => upToDate().proofOf(attempt),
    keepProof(attempt, progress) {
      if (waiting.length > 0) return;
      try {
        journal.keepProof(attempt, progress);
        written();
      } catch (error) {
        // The next one, a few seconds later, says all that this one did.
        heed(error);
      }
    },
    movesSince: (attempt, mint) => upToDate().movesSince(attempt, mint),
    unsettledOutcomes: () => upToDate().unsettledOutcomes(),
    loadStrategyStates: () => upToDate().loadStrategyStates(),
    loadSnapshot: () => upToDate().loadSnapshot(),
    isOwnTransaction: (signature) => upToDate().isOwnTransaction(signature),
    lastLanded: () => upToDate().lastLanded(),
    listAdjustments: (limits) => journal.listAdjustments(limits),
    listIntents: (limits) => journal.listIntents(limits),
    showIntent: (intentId) => journal.showIntent(intentId),
    listRuns: (limits) => journal.listRuns(limits),
    standing: () => journal.standing(),
    acceptAsIs: () => { journal.acceptAsIs(); },
    attemptsSince: (feePayer, at) => upToDate().attemptsSince(feePayer, at),
    checkpoint: () => { journal.checkpoint(); },
    close() {
      retry?.unsubscribe();
      try {
        flush();
      } finally {
        journal.close();
      }
    },
  };
}
