import type { Steps } from '../../core/steps.ts';
import { STEP_EVENTS } from '../../core/steps.ts';

/**
 * Works out the last number N for which each of 1 to N is either where the cursor comes by or among `extraSeqs`; 0
 * where 1 is missing. The cursor's numbers only grow; the others may come in any order.
 */
export function* gapFreeUntil(
  cursor: { next(): boolean; readonly seq: number }, extraSeqs: Iterable<number>,
): Steps<number> {
  const extra = Float64Array.from(extraSeqs).sort();
  let expected = 1;
  let nextExtra = 0;
  const takeExtra = (): void => {
    while (nextExtra < extra.length && extra[nextExtra]! <= expected) {
      if (extra[nextExtra] === expected) expected += 1;
      nextExtra += 1;
    }
  };
  takeExtra();
  for (let events = 1; cursor.next(); events++) {
    if (events % STEP_EVENTS === 0) yield;
    if (cursor.seq > expected) break;
    if (cursor.seq === expected) expected += 1;
    takeExtra();
  }
  return expected - 1;
}
