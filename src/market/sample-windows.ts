import type { Millis } from '../core/time.ts';
import type { FeedSpec } from './feed.ts';
import { originOf } from './feed.ts';

/** Intervals of live polls vary by a tenth. */
const POLL_JITTER = 0.1;

/**
 * Selects the events of a feed that a poll at an interval would have seen. Windows of that length begin at its
 * multiples since the epoch, so the samples do not depend on the start of a run; the first event of a window is its
 * sample.
 */
export interface SampleWindows {
  readonly everyMs: Millis;
  /** The last window with a sample; -Infinity before the first event, which is always a sample. */
  window: number;
}

/**
 * Returns whether a feed's events at `intervalMs` are more than an input asks for, by more than the jitter of polls.
 * Events that each count on their own never are.
 */
export function isFinerThan(intervalMs: Millis | undefined, spec: FeedSpec): boolean {
  return intervalMs !== undefined && originOf(spec) === 'service' && intervalMs < (1 - POLL_JITTER) * spec.everyMs;
}

/**
 * Returns whether an event is a sample, and records it. The second sample follows the first after half an interval or
 * more, as live.
 */
export function takesSample(windows: SampleWindows, at: Millis): boolean {
  const { everyMs, window: last } = windows;
  const window = Math.floor(at / everyMs);
  if (window <= last) return false;
  const isNextTooSoon = last === -Infinity && (window + 1) * everyMs - at < everyMs / 2;
  windows.window = isNextTooSoon ? window + 1 : window;
  return true;
}

/** Makes the next event a sample, as the live scheduler polls every feed when it starts. */
export function restartSampling(windows: SampleWindows): void {
  windows.window = -Infinity;
}

/** Waits for the next window: the sample of the window of `at` may be an event before `at`, which is not shown. */
export function joinSampling(windows: SampleWindows, at: Millis): void {
  windows.window = Math.floor((at - 1) / windows.everyMs);
}
