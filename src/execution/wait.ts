import type { Clock, Millis } from '../core/time.ts';

/** Resolves after a span of a clock's time, or at once and with no timer left where the signal is aborted. */
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
