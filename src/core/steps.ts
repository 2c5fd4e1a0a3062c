/**
 * Work that is done a step at a time, each of some milliseconds: whoever does it may look up in between. Nothing
 * happens until somebody does it.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** So many events are gone through in a few milliseconds. */
export const STEP_EVENTS = 16_384;

/** Does all of the work at once and returns what comes of it. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
