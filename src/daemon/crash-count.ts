import type { Millis } from '../core/time.ts';
import type { RunRecord } from '../store/journal.ts';

/** After how many ends that nobody ordered a start no longer trades by itself. */
export interface CrashLimit {
  readonly crashes: number;
  readonly withinMs: Millis;
}

export const CRASH_LIMIT: CrashLimit = { crashes: 3, withinMs: 600_000 };

/**
 * Returns how many of the newest runs in a row ended without having closed their books, each begun within the span
 * before now: 0 after a run that ended in order. Whoever starts again and again into the same crash would otherwise trade
 * anew each time. Runs that say to have begun in the future, from before a clock was set back, count too.
 */
export function crashesInARow(runs: readonly RunRecord[], now: Millis, { withinMs }: CrashLimit = CRASH_LIMIT): number {
  const unbroken = runs.findIndex(({ startedAt, endedAt }) => endedAt !== undefined || startedAt < now - withinMs);
  return unbroken < 0 ? runs.length : unbroken;
}
