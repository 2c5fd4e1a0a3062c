import type { Subscription } from 'rxjs';
import { interval } from 'rxjs';
import { messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Log } from '../reporting/log.ts';

/** Repeats work that watches a run. A fault is logged once until the work succeeds again, and ends nothing. */
export function guardedInterval(
  { clock, log, name, everyMs }: {
    readonly clock: Clock; readonly log: Log;
    /** For the log. */
    readonly name: string;
    readonly everyMs: Millis;
  }, work: () => void,
): Subscription {
  let hasFailed = false;
  return interval(everyMs, clock).subscribe(() => {
    try {
      work();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log('error', `${name} failed: ${messageOf(error)}`, { error });
      hasFailed = true;
    }
  });
}
