import type { SchedulerAction, Subscription } from 'rxjs';
import { asyncScheduler } from 'rxjs';
import type { Clock, Millis } from '../../src/core/time.ts';

/** So far in the past that it never overtakes the sandbox's own time, in which a maker's quotes expire. */
const HEAD_START_MS = 86_400_000;

/** Returns a clock on which everything takes its proper time, and the test does not: it runs `factor` times as fast. */
export function fasterClock(factor: number): Clock {
  const startedAt = asyncScheduler.now();
  return {
    now: () => startedAt - HEAD_START_MS + (asyncScheduler.now() - startedAt) * factor,
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: Millis, state?: T): Subscription =>
      asyncScheduler.schedule(work, (delay ?? 0) / factor, state),
  };
}
