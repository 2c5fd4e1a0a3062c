import { performance } from 'node:perf_hooks';
import { asyncScheduler } from 'rxjs';
import type { Clock, Millis } from '../core/time.ts';

/** So far back the wall clock may be corrected while time merely stands still. */
const CORRECTION_MS = 2_000;

/** The wall clock and the process's timers. Only the daemon and the commands hand it out. */
export const systemClock: Clock = {
  now: steadyNow(() => Date.now(), () => performance.now()),
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
};

/**
 * Returns the time of the wall clock, but one that never goes back: over a small correction it stands still, and where
 * the wall is set back further it goes on by the machine's own steady counter until the wall has caught up.
 */
export function steadyNow(wall: () => Millis, steady: () => Millis): () => Millis {
  let last = wall();
  let lastSteady = steady();
  return () => {
    const now = wall();
    const steadyAt = steady();
    const isSetBack = now < last - CORRECTION_MS;
    last = isSetBack ? last + Math.floor(steadyAt - lastSteady) : Math.max(last, now);
    // What was floored away is kept, or time would run slow when it is asked for often.
    lastSteady = isSetBack ? lastSteady + Math.floor(steadyAt - lastSteady) : steadyAt;
    return last;
  };
}
