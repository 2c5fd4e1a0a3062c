import type { Clock, Millis } from '../core/time.ts';

/** The most that counts between two readings of the clock; longer than any pause of a poll. */
const STEP_MAX_MS = 5_000;

/**
 * Measures elapsed time independent of clock jumps: between two readings at most a few seconds count, and a pause
 * counts at least its span. A clock jump, or a machine that slept, ages nothing.
 */
export class MonotonicTime {
  readonly #clock: Clock;
  #lastReading: Millis;
  #elapsedMs: Millis;

  /** Starts at the elapsed time of an earlier process. */
  constructor(clock: Clock, watchedMs: Millis = 0) {
    this.#clock = clock;
    this.#lastReading = clock.now();
    this.#elapsedMs = watchedMs;
  }

  /** Returns the elapsed time so far. */
  elapsed(): Millis {
    const now = this.#clock.now();
    const stepMs = now - this.#lastReading;
    this.#lastReading = now;
    if (stepMs > 0) this.#elapsedMs += Math.min(stepMs, STEP_MAX_MS);
    return this.#elapsedMs;
  }

  /** Resolves after a span, which counts in full, or at once on abort. */
  async pause(spanMs: Millis, signal?: AbortSignal): Promise<void> {
    const until = this.elapsed() + spanMs;
    await wait(this.#clock, spanMs, signal);
    const elapsedMs = this.elapsed();
    if (signal?.aborted !== true) this.#elapsedMs = Math.max(elapsedMs, until);
  }
}

/** Resolves after a span of a clock's time, or at once and without a timer on abort. */
export function wait(clock: Clock, spanMs: Millis, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      timer.unsubscribe();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.schedule(end, spanMs);
    signal?.addEventListener('abort', end);
  });
}
