import type { Clock, Millis } from '../core/time.ts';

/** Resolves after a span of a clock's time. */
export function wait(clock: Clock, spanMs: Millis): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(() => { resolve(); }, spanMs);
  });
}
