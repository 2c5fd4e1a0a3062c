import type { Millis } from '../../core/time.ts';

/** How old the data of a feed is and was: the time since it was received. Undefined before there is any. */
export interface MeasuredAge {
  readonly ageMs: Millis | undefined;
  /** Averaged over the time since the first data. */
  readonly meanAgeMs: Millis | undefined;
  readonly maxAgeMs: Millis | undefined;
}

/** Measures the age of data that is renewed now and then. */
export interface AgeMeter {
  renewed(at: Millis): void;
  read(now: Millis): MeasuredAge;
}

/** Returns the meter of something that has no data yet. */
export function createAgeMeter(): AgeMeter {
  let firstAt: Millis | undefined;
  let lastAt = 0;
  /** The integral of the age until the last renewal, in ms². */
  let area = 0;
  let oldestMs = 0;

  return {
    renewed(at) {
      const ageMs = firstAt === undefined ? 0 : at - lastAt;
      firstAt ??= at;
      area += (ageMs * ageMs) / 2;
      oldestMs = Math.max(oldestMs, ageMs);
      lastAt = at;
    },

    read(now) {
      if (firstAt === undefined) return { ageMs: undefined, meanAgeMs: undefined, maxAgeMs: undefined };
      const ageMs = now - lastAt;
      const meanAgeMs = now === firstAt ? 0 : (area + (ageMs * ageMs) / 2) / (now - firstAt);
      return { ageMs, meanAgeMs, maxAgeMs: Math.max(oldestMs, ageMs) };
    },
  };
}
