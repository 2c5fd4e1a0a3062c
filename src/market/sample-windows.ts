import type { Millis } from '../core/time.ts';

/** Intervals of live polls vary by a tenth. */
const POLL_JITTER = 0.1;

/**
 * Chooses of the events of a feed those that a poll at an interval would have seen. Time is divided into windows of
 * that interval, which begin at its multiples since the epoch; the first event of a window is its sample. So the
 * samples do not depend on where a run begins.
 */
export interface SampleWindows {
  readonly everyMs: Millis;
  /** The last window that has its sample; -Infinity before the first event, which is taken at once. */
  window: number;
}

/** Returns whether events that come so far apart come more often than each `everyMs`, by more than polls vary. */
export function isFinerThan(intervalMs: Millis | undefined, everyMs: Millis): boolean {
  return intervalMs !== undefined && intervalMs < (1 - POLL_JITTER) * everyMs;
}

/**
 * Returns whether an event is a sample, and takes note of it. After the first one, the next comes half an interval
 * later at the soonest, as live.
 */
export function takesSample(windows: SampleWindows, at: Millis): boolean {
  const { everyMs, window: last } = windows;
  const window = Math.floor(at / everyMs);
  if (window <= last) return false;
  const isNextTooSoon = last === -Infinity && (window + 1) * everyMs - at < everyMs / 2;
  windows.window = isNextTooSoon ? window + 1 : window;
  return true;
}

/** Takes the next event at once, as a scheduler polls every feed when it starts. */
export function restartSampling(windows: SampleWindows): void {
  windows.window = -Infinity;
}

/** Waits for the next window: an event before `at`, which nobody is shown, may be the sample of the window of `at`. */
export function joinSampling(windows: SampleWindows, at: Millis): void {
  windows.window = Math.floor((at - 1) / windows.everyMs);
}
