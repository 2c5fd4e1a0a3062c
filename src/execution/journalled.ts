import type { Observable } from 'rxjs';
import { defer, tap } from 'rxjs';
import type { Executor } from '../trading/executor.ts';
import type { Outcome } from '../trading/intent.ts';
import type { Journal } from './ports.ts';

/** Returns an executor whose every intent and transition is written down before anybody hears of it. */
export function journalled(executor: Executor, journal: Pick<Journal, 'intentApproved' | 'transition'>): Executor {
  const write = (outcomes$: Observable<Outcome>): Observable<Outcome> => outcomes$.pipe(tap((outcome) => { journal.transition(outcome); }));
  return {
    execute: (intent) => defer(() => {
      journal.intentApproved(intent);
      return write(executor.execute(intent));
    }),
    reconcile: (open) => write(executor.reconcile(open)),
  };
}
