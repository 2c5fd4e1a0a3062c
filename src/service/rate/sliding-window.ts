import type { Millis } from '../../core/time.ts';

/** The instants of the latest requests, oldest first, counted over windows of any length up to the longest. */
export interface SlidingWindow {
  /** Records requests at an instant that is not before the last one recorded. */
  record(at: Millis, count?: number): void;
  /** Returns how many requests the last `windowMs` hold at `now`. */
  count(now: Millis, windowMs: Millis): number;
  /** Returns when the last `windowMs` hold fewer than `allowed` requests; `now` if they do already. */
  freeAt(now: Millis, windowMs: Millis, allowed: number): Millis;
  /** Returns the instants of the last `windowMs`, oldest first. */
  within(now: Millis, windowMs: Millis): readonly Millis[];
}

/** Returns an empty window that remembers requests for `longestMs`. */
export function createSlidingWindow(longestMs: Millis): SlidingWindow {
  let instants: Millis[] = [];
  let oldest = 0;

  function forget(now: Millis): void {
    while (oldest < instants.length && instants[oldest]! <= now - longestMs) oldest += 1;
    // Dropping the head one by one would cost a copy each time; half the array at once costs nothing on average.
    if (oldest > 64 && oldest * 2 > instants.length) {
      instants = instants.slice(oldest);
      oldest = 0;
    }
  }

  /** Returns the place of the first request after an instant. */
  function firstAfter(instant: Millis): number {
    let [low, high] = [oldest, instants.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (instants[middle]! <= instant) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    record(at, count = 1) {
      forget(at);
      for (let n = 0; n < count; n++) instants.push(at);
    },

    count: (now, windowMs) => instants.length - firstAfter(now - windowMs),

    freeAt(now, windowMs, allowed) {
      const first = firstAfter(now - windowMs);
      const excess = instants.length - first - allowed;
      return excess < 0 ? now : instants[first + excess]! + windowMs;
    },

    within: (now, windowMs) => instants.slice(firstAfter(now - windowMs)),
  };
}
