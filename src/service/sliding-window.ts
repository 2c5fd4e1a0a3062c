import type { Millis } from '../core/time.ts';

/** The instants of the requests within the last window, oldest first. */
export interface SlidingWindow {
  record(at: Millis): void;
  /** Returns how many requests the window holds at `now`. */
  count(now: Millis): number;
  /** Returns when the window holds fewer than `allowed` requests; `now` if it does already. */
  freeAt(now: Millis, allowed: number): Millis;
}

/** Returns an empty window of a given length. */
export function createSlidingWindow(windowMs: Millis): SlidingWindow {
  let instants: Millis[] = [];
  let oldest = 0;

  function count(now: Millis): number {
    while (oldest < instants.length && instants[oldest]! <= now - windowMs) oldest += 1;
    // Dropping the head one by one would cost a copy each time; half the array at once costs nothing on average.
    if (oldest > 64 && oldest * 2 > instants.length) {
      instants = instants.slice(oldest);
      oldest = 0;
    }
    return instants.length - oldest;
  }

  return {
    record: (at) => void instants.push(at),
    count,
    freeAt(now, allowed) {
      const excess = count(now) - allowed;
      return excess < 0 ? now : instants[oldest + excess]! + windowMs;
    },
  };
}
