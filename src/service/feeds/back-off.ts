import type { Random } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';

/** Delays that grow while something keeps failing. */
export interface BackOff {
  next(): Millis;
  reset(): void;
}

/**
 * Returns a back-off with decorrelated jitter: each delay is drawn from the base to three times the last one, so that
 * many that failed together do not come back together (M. Brooker, "Exponential Backoff And Jitter", 2015).
 */
export function createBackOff(
  { baseMs, capMs, random }: { readonly baseMs: Millis; readonly capMs: Millis; readonly random: Random },
): BackOff {
  let lastMs = baseMs;
  return {
    next() {
      lastMs = Math.min(capMs, baseMs + random() * (lastMs * 3 - baseMs));
      return lastMs;
    },
    reset() {
      lastMs = baseMs;
    },
  };
}
