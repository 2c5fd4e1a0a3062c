import type { Subscription } from 'rxjs';
import { interval } from 'rxjs';
import { isGannetError, messageOf } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { JournalStore } from '../store/journal.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import { snapshotState } from '../trading/state.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { Log } from './log.ts';
import type { SessionOptions } from './session-options.ts';

type StatesOf = Pick<Engine, 'takeStrategyStates' | 'returnStrategyStates'>;

/**
 * Writes down what strategies keep, where something changed. What could not be written is handed out again the next
 * time, so that an outcome is never taken for seen without the state that holds it. Throws what writing throws.
 */
export function keepStates(engine: StatesOf, write: (states: readonly StrategyState[]) => void): void {
  const states = engine.takeStrategyStates();
  try {
    write(states);
  } catch (error) {
    engine.returnStrategyStates(states);
    throw error;
  }
}

/**
 * Returns what keeps the whole state now and then: what changed without a swap or an outcome (peaks, days, the operator's
 * presence, what strategies keep) is not lost either, but for the last while of a process that dies. A fault is told
 * once, and the writing tried again at the next call.
 */
export function createStateKeeper({ state, engine, journal, log, alert }: Pick<SessionOptions, 'state' | 'journal' | 'log'> & {
  readonly engine: StatesOf; readonly alert: (alert: AlertProposal) => void;
}): () => void {
  let isKept = true;
  return () => {
    try {
      keepStates(engine, (states) => { journal.saveSnapshot(snapshotState(state), [], states); });
      isKept = true;
    } catch (error) {
      log('error', 'the state could not be kept', { error });
      if (isKept) alert({ kind: 'alert', level: 'critical', message: `peaks, days and what strategies keep could not be written down, and would be lost with the process: ${messageOf(error)}` });
      isKept = false;
    }
  };
}

const CHECKPOINT_EVERY_MS: Millis = 5 * 60_000;

/** Brings the journal's main file up to date every few minutes, so that a copy of that file alone is never old. */
export function keepCheckpointed({ journal, clock, log }: {
  readonly journal: Pick<JournalStore, 'checkpoint'>; readonly clock: Clock; readonly log: Log;
}): Subscription {
  return interval(CHECKPOINT_EVERY_MS, clock).subscribe(() => {
    try {
      journal.checkpoint();
    } catch (error) {
      if (!isGannetError(error)) throw error;
      // The WAL has it all the same; the next turn tries again.
      log('warn', 'the journal could not be checkpointed', { error });
    }
  });
}
