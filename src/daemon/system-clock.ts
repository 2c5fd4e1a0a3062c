import { performance } from 'node:perf_hooks';
import type { SchedulerAction } from 'rxjs';
import { asyncScheduler, Subscription } from 'rxjs';
import type { Clock, Millis } from '../core/time.ts';

/** So far back the wall clock may be corrected while time merely stands still. */
const CORRECTION_MS = 2_000;

/** The wall clock and the process's timers. Only the daemon and the commands hand it out. */
export const systemClock: Clock = {
  now: steadyNow(() => Date.now(), () => performance.now()),
  schedule: scheduleLong,
};

/** What a timer of the process can wait for at most; one set to more fires at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Waits as long as it is told to, however long that is: a bot runs for months. */
function scheduleLong<State>(work: (this: SchedulerAction<State>, state?: State) => void, delayMs: Millis = 0, state?: State): Subscription {
  if (delayMs <= TIMER_MAX_MS) return asyncScheduler.schedule(work, delayMs, state);
  const waiting = new Subscription();
  waiting.add(asyncScheduler.schedule(() => { waiting.add(scheduleLong(work, delayMs - TIMER_MAX_MS, state)); }, TIMER_MAX_MS));
  return waiting;
}

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
