import { performance } from 'node:perf_hooks';

/** Returns milliseconds since the process started, for measuring durations only: no decision depends on them. */
export function stopwatch(): number {
  return performance.now();
}
