import { performance } from 'node:perf_hooks';
import type { SchedulerAction } from 'rxjs';
import { Subscription, asyncScheduler } from 'rxjs';
import type { Clock, Millis } from '../../core/time.ts';
import { roughDuration } from '../../core/time.ts';
import type { AlertProposal } from '../../trading/proposal.ts';

/** Up to this correction of the wall clock, time stands still. */
const CORRECTION_MS = 2_000;

/** The wall clock and the process's timers. Only the daemon and the commands pass it on. */
export const systemClock: Clock = {
  now: monotonicNow(() => Date.now(), () => performance.now()),
  schedule: scheduleLong,
};

/** The longest timer of Node; a longer one fires at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Schedules work after any delay, because a bot runs for months. */
function scheduleLong<State>(
  work: (this: SchedulerAction<State>, state?: State) => void, delayMs: Millis = 0, state?: State,
): Subscription {
  if (delayMs <= TIMER_MAX_MS) return asyncScheduler.schedule(work, delayMs, state);
  const waiting = new Subscription();
  waiting.add(
    asyncScheduler.schedule(() => { waiting.add(scheduleLong(work, delayMs - TIMER_MAX_MS, state)); }, TIMER_MAX_MS),
  );
  return waiting;
}

/**
 * Returns the time of the wall clock, but one that never goes back: over a small correction it stands still, and where
 * the wall is set back further it goes on by the machine's monotonic counter until the wall has caught up.
 */
export function monotonicNow(wall: () => Millis, monotonic: () => Millis): () => Millis {
  let last = wall();
  let lastMonotonic = monotonic();
  return () => {
    const now = wall();
    const monotonicAt = monotonic();
    const isSetBack = now < last - CORRECTION_MS;
    last = isSetBack ? last + Math.floor(monotonicAt - lastMonotonic) : Math.max(last, now);
    // The fraction is kept, or frequent calls would slow time down.
    lastMonotonic = isSetBack ? lastMonotonic + Math.floor(monotonicAt - lastMonotonic) : monotonicAt;
    return last;
  };
}

type Skew = 'none' | 'noticeable' | 'gross';

/** A difference from here on is reported. Answers carry whole seconds and take time to arrive. */
export const NOTICEABLE_MS: Millis = 30_000;
/** A difference from here on is critical. */
export const GROSS_MS: Millis = 600_000;
const CHECK_EVERY_MS: Millis = 60_000;

/** Returns the alert for a clock that was set back since the last run; undefined for small differences. */
export function setBackAlert(setBackMs: Millis): AlertProposal | undefined {
  if (setBackMs < NOTICEABLE_MS) return undefined;
  return {
    kind: 'alert', level: 'warning',
    message: `the clock of this machine was set back by ${roughDuration(setBackMs)} or more since the last run: what `
      + 'that run noted of later counts as of now, so pauses and spans may last longer. '
      + 'Make sure that the clock is right (NTP)',
    data: { set_back_ms: Math.round(setBackMs) },
  };
}

/** Compares the clock with the time in the service's answers, at once and every minute, and alerts on each change. */
export function watchClock({ clock, aheadMs, alert }: {
  readonly clock: Clock;
  /** How far the service's clock is ahead; negative where it is behind, undefined while unknown. */
  readonly aheadMs: () => Millis | undefined;
  readonly alert: (alert: AlertProposal) => void;
}): Subscription {
  let reported: Skew = 'none';
  const check = (): void => {
    const ahead = aheadMs();
    if (ahead === undefined) return;
    const off = Math.abs(ahead);
    const skew = off >= GROSS_MS ? 'gross' : off >= NOTICEABLE_MS ? 'noticeable' : 'none';
    if (skew === reported) return;
    reported = skew;
    alert(skew === 'none'
      ? { kind: 'alert', level: 'info', message: 'the clock of this machine agrees with the service’s again' }
      : {
          kind: 'alert', level: skew === 'gross' ? 'critical' : 'warning',
          message: `the clock of this run is ${roughDuration(off)} ${ahead > 0 ? 'behind' : 'ahead of'} the service’s`
            + ': days begin and end at the wrong time for it, and firm quotes seem '
            + `${ahead > 0 ? 'good for longer than they are' : 'to have run out'}. Set the clock of this machine (NTP) `
            + 'and start again',
          data: { ahead_ms: Math.round(ahead) },
        });
  };
  check();
  return clock.schedule(function (this: SchedulerAction<void>) {
    check();
    this.schedule(undefined, CHECK_EVERY_MS);
  }, CHECK_EVERY_MS);
}
