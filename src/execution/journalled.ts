import type { Observable } from 'rxjs';
import { defer, of, tap } from 'rxjs';
import type { Executor } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import type { Journal, Progress } from './ports.ts';
import { isGannetError } from '../core/errors.ts';

/**
 * Returns an executor that journals every intent and transition before it reports it. An intent that cannot be
 * journalled is abandoned.
 */
export function journalled(executor: Executor, journal: Pick<Journal, 'intentApproved' | 'transition'>): Executor {
  const write = (outcomes$: Observable<Outcome>): Observable<Outcome> =>
    outcomes$.pipe(tap((outcome) => { journal.transition(outcome); }));
  return {
    execute: (intent, strategyState) => defer(() => {
      try {
        journal.intentApproved(intent, strategyState);
      } catch (error) {
        return of(unwritten(intent, error));
      }
      return write(executor.execute(intent));
    }),
    reconcile: (open) => write(executor.reconcile(open)),
  };
}

/**
 * Returns the outcome of an intent that could not be journalled, without any effect. Rethrows other faults than those
 * of the disk.
 */
export function unwritten(intent: Intent, error: unknown): Outcome {
  return { kind: 'outcome', intentId: intent.id, attempt: 1, ...unwrittenProgress(error) };
}

/**
 * Returns the end of an attempt that could not be journalled and was not sent. Rethrows other faults than those of the
 * disk.
 */
export function unwrittenProgress(error: unknown): Progress & { readonly state: 'abandoned' } {
  if (!isGannetError(error) || error.code !== 'JOURNAL_FAILED') throw error;
  return { state: 'abandoned', code: 'JOURNAL_FAILED', reason: error.message.slice(0, 400) };
}
