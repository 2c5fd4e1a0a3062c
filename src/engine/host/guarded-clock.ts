import type { SchedulerAction, Subscription } from 'rxjs';
import type { Clock, Millis } from '../../core/time.ts';

/** A clock that stands for another one, which changes while a strategy is warmed up in the middle of a run. */
export class ClockInPlace implements Clock {
  #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  standFor(clock: Clock): void {
    this.#clock = clock;
  }

  now(): Millis {
    return this.#clock.now();
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    return this.#clock.schedule(work, delay, state);
  }
}

/** Returns a clock for one strategy: what its timers throw is a fault of this strategy alone. */
export function guardedClock({ clock, mayFire, fail }: {
  readonly clock: Clock;
  /** Returns whether a timer may fire. */
  readonly mayFire: () => boolean;
  readonly fail: (error: unknown) => void;
}): Clock {
  return {
    now: () => clock.now(),
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T) =>
      clock.schedule<T>(function guarded(given) {
        if (!mayFire()) return;
        try {
          work.call(this, given);
        } catch (error) {
          fail(error);
        }
      }, delay, state),
  };
}
