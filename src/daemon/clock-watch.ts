import type { SchedulerAction, Subscription } from 'rxjs';
import type { Clock, Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import type { AlertProposal } from '../trading/proposal.ts';

type Skew = 'none' | 'noticeable' | 'gross';

/** An answer says its time in whole seconds and is under way for a while. */
const NOTICEABLE_MS: Millis = 30_000;
const GROSS_MS: Millis = 600_000;
const LOOK_EVERY_MS: Millis = 60_000;

/** Returns what people are told where the run before this one ended so much later than this one begins, undefined where it is next to nothing. */
export function setBackAlert(setBackMs: Millis): AlertProposal | undefined {
  if (setBackMs < NOTICEABLE_MS) return undefined;
  return {
    kind: 'alert', level: 'warning',
    message: `the clock of this machine was set back by ${roughDuration(setBackMs)} or more since the last run: what that run noted of later counts as of now, so pauses and spans may last longer. `
      + 'Make sure that the clock is right (NTP)',
    data: { set_back_ms: Math.round(setBackMs) },
  };
}

/**
 * Holds the clock against the time in the service's answers, at once and every minute, and tells each change: once when
 * it is off, once when it is right again.
 */
export function watchClock({ clock, aheadMs, alert }: {
  readonly clock: Clock;
  /** By how much the service's clock is ahead of this one, negative where it is behind; undefined where it did not say. */
  readonly aheadMs: () => Millis | undefined;
  readonly alert: (alert: AlertProposal) => void;
}): Subscription {
  let told: Skew = 'none';
  const look = (): void => {
    const ahead = aheadMs();
    if (ahead === undefined) return;
    const off = Math.abs(ahead);
    const skew = off >= GROSS_MS ? 'gross' : off >= NOTICEABLE_MS ? 'noticeable' : 'none';
    if (skew === told) return;
    told = skew;
    alert(skew === 'none'
      ? { kind: 'alert', level: 'info', message: 'the clock of this machine agrees with the service’s again' }
      : {
          kind: 'alert', level: skew === 'gross' ? 'critical' : 'warning',
          message: `the clock of this run is ${roughDuration(off)} ${ahead > 0 ? 'behind' : 'ahead of'} the service’s: days begin and end at the wrong time for it, and firm quotes seem `
            + `${ahead > 0 ? 'good for longer than they are' : 'to have run out'}. Set the clock of this machine (NTP) and start again`,
          data: { ahead_ms: Math.round(ahead) },
        });
  };
  look();
  return clock.schedule(function (this: SchedulerAction<void>) {
    look();
    this.schedule(undefined, LOOK_EVERY_MS);
  }, LOOK_EVERY_MS);
}
