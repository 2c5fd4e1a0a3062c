import type { Clock, Millis } from '../core/time.ts';
import { wait } from './wait.ts';

/** No two looks are further apart than this, whatever the clock says; it is longer than any pause of a watch. */
const STEP_MAX_MS = 5_000;

/**
 * Measures how long something has been watched, not what the clock showed: of the time between two looks at most a few
 * seconds count, and of a pause at least its span. A clock that jumps, or a machine that slept, makes nothing old.
 */
export class SteadyTime {
  readonly #clock: Clock;
  #lastLook: Millis;
  #elapsedMs: Millis;

  /** Goes on from what was watched before. */
  constructor(clock: Clock, watchedMs: Millis = 0) {
    this.#clock = clock;
    this.#lastLook = clock.now();
    this.#elapsedMs = watchedMs;
  }

  /** Returns what has been watched until now. */
  elapsed(): Millis {
    const now = this.#clock.now();
    const stepMs = now - this.#lastLook;
    this.#lastLook = now;
    if (stepMs > 0) this.#elapsedMs += Math.min(stepMs, STEP_MAX_MS);
    return this.#elapsedMs;
  }

  /** Resolves after a span, which then counts in full, or at once where the signal is aborted. */
  async pause(spanMs: Millis, signal?: AbortSignal): Promise<void> {
    const until = this.elapsed() + spanMs;
    await wait(this.#clock, spanMs, signal);
    const elapsedMs = this.elapsed();
    if (signal?.aborted !== true) this.#elapsedMs = Math.max(elapsedMs, until);
  }
}
