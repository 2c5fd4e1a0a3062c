import type { SchedulerAction, Subscription } from 'rxjs';
import { asyncScheduler } from 'rxjs';
import type { Clock, Millis } from '../../src/core/time.ts';

/** So far in the past that it never overtakes the sandbox's own time, in which a maker's quotes expire. */
const HEAD_START_MS = 86_400_000;

/**
 * Returns a clock on which work takes its proper time, and waiting a `factor`th of it: when a timer fires, its whole
 * span has passed, or `late` times that, as on a machine that wakes processes late.
 */
export function impatientClock(factor: number, late = 1): Clock {
  let skippedMs = -HEAD_START_MS;
  const now = (): Millis => asyncScheduler.now() + skippedMs;
  return {
    now,
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: Millis, state?: T): Subscription => {
      const due = now() + (delay ?? 0) * late;
      return asyncScheduler.schedule<T>(function (this: SchedulerAction<T>, given?: T) {
        skippedMs += Math.max(0, due - now());
        work.call(this, given);
      }, (delay ?? 0) / factor, state);
    },
  };
}
