import type { SegmentDigest } from './digest.ts';

/** What rows of a segment add up to. */
export type SegmentFacts = Pick<SegmentDigest, 'rows' | 'events' | 'firstSeq' | 'lastSeq' | 'firstAt' | 'lastAt'>;

/** Returns what rows and those that follow them add up to. */
export function joinFacts(before: SegmentFacts | undefined, next: SegmentFacts): SegmentFacts {
  if (before === undefined) return next;
  return {
    ...next, rows: before.rows + next.rows, events: before.events + next.events, firstSeq: before.firstSeq,
    firstAt: before.firstAt,
  };
}
