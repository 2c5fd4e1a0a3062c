import type { Subscription } from 'rxjs';
import { interval } from 'rxjs';
import { isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import { snapshotState } from '../../trading/engine-state.ts';
import type { StrategyState } from '../../trading/strategy-state.ts';
import type { Log } from '../reporting/log.ts';
import type { SessionOptions } from './run-options.ts';

type StatesOf = Pick<Engine, 'takeStrategyStates' | 'returnStrategyStates'>;

/**
 * Writes changed strategy states. States that could not be written are returned to the engine for the next write, so
 * that no outcome counts as seen without the state that includes it. Throws the errors of `write`.
 */
export function saveStrategyStates(engine: StatesOf, write: (states: readonly StrategyState[]) => void): void {
  const states = engine.takeStrategyStates();
  try {
    write(states);
  } catch (error) {
    engine.returnStrategyStates(states);
    throw error;
  }
}

/**
 * Returns a function that saves the whole state. Regular calls limit the loss of a crash to little of what changes
 * without a swap: equity peaks, days, the operator's presence and strategy states. The first failure of a series raises
 * an alert.
 */
export function createStateKeeper({
  state, engine, journal, log, alert,
}: Pick<SessionOptions, 'state' | 'journal' | 'log'> & {
  readonly engine: StatesOf; readonly alert: (alert: AlertProposal) => void;
}): () => void {
  let isSaved = true;
  return () => {
    try {
      saveStrategyStates(engine, (states) => { journal.saveSnapshot(snapshotState(state), [], states); });
      isSaved = true;
    } catch (error) {
      log('error', 'the state could not be saved', { error });
      if (isSaved) {
        const message =
          `equity peaks, days and strategy states could not be saved; a crash would lose them: ${messageOf(error)}`;
        alert({ kind: 'alert', level: 'critical', message, data: { code: 'STATE_NOT_SAVED' } });
      }
      isSaved = false;
    }
  };
}

const CHECKPOINT_EVERY_MS: Millis = 5 * 60_000;

/** Checkpoints the journal every few minutes, so that a copy of its main file alone is never old. */
export function scheduleCheckpoints({ journal, clock, log }: {
  readonly journal: Pick<JournalStore, 'checkpoint'>; readonly clock: Clock; readonly log: Log;
}): Subscription {
  return interval(CHECKPOINT_EVERY_MS, clock).subscribe(() => {
    try {
      journal.checkpoint();
    } catch (error) {
      if (!isGannetError(error)) throw error;
      // The WAL still has everything, and the next checkpoint follows.
      log('warn', 'the journal could not be checkpointed', { error });
    }
  });
}
