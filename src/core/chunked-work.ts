/** Work in chunks of a few milliseconds each, so that the caller can do other things in between. It is lazy. */
export type ChunkedWork<T> = Generator<undefined, T, undefined>;

/** The events that are processed in a few milliseconds. */
export const EVENTS_PER_CHUNK = 16_384;

/** Runs all chunks without a break and returns the result. */
export function runToEnd<T>(work: ChunkedWork<T>): T {
  for (;;) {
    const chunk = work.next();
    if (chunk.done === true) return chunk.value;
  }
}
