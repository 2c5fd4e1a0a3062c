import type { Observable } from 'rxjs';
import { defer, of, tap } from 'rxjs';
import type { Executor } from '../trading/executor.ts';
import type { Outcome } from '../trading/intent.ts';
import type { Journal } from './ports.ts';
import { unwritten } from './unwritten.ts';

/**
 * Returns an executor whose every intent and transition is written down before anybody hears of it. An intent that the
 * journal does not take is given up.
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
