import type { Millis } from '../../core/time.ts';

/** Something that was silent for so long is worth a word, if it mostly is not. */
const SILENT_MS = 60_000;
const TIMES_USUAL = 5;

/** From the last that was heard to the next. */
export interface Silence {
  readonly from: Millis;
  readonly until: Millis;
}

/** Listens for how often something is heard, and when it was not. */
export interface SilenceWatch {
  readonly first: Millis;
  readonly last: Millis;
  readonly count: number;
  hear(at: Millis): void;
  /** The usual distance between two, milliseconds; null where fewer than two were heard. */
  readonly usualMs: () => number | null;
  /** Returns when it was silent for a minute at least and five times as long as usual: known only at the end. */
  silences(): readonly Silence[];
}

/** Returns whether something that is usually heard each `usualMs` milliseconds was silent; where nothing is usual, it was not. */
export function isSilence({ from, until }: Silence, usualMs: number | null): boolean {
  return until - from > SILENT_MS && until - from > TIMES_USUAL * (usualMs ?? Infinity);
}

/** Returns a watch that has heard something once. */
export function watchSilence(first: Millis): SilenceWatch {
  const long: Silence[] = [];
  let last = first;
  let count = 1;
  const usualMs = (): number | null => {
    if (count < 2) return null;
    const silent = long.reduce((sum, { from, until }) => sum + until - from, 0);
    const lively = count - 1 - long.length;
    return lively > 0 && lively >= long.length ? (last - first - silent) / lively : (last - first) / (count - 1);
  };
  return {
    first,
    get last() { return last; },
    get count() { return count; },
    hear(at) {
      if (at - last > SILENT_MS) long.push({ from: last, until: at });
      last = at;
      count += 1;
    },
    usualMs,
    silences() {
      const usual = usualMs();
      return long.filter((silence) => isSilence(silence, usual));
    },
  };
}
