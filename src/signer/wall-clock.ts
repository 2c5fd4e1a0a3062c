import type { Clock } from '../core/time.ts';

/** The wall clock, for spans of hours: whoever counts by it must bear that it may be set back. */
export const wallClock: Pick<Clock, 'now'> = { now: () => Date.now() };
