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

/**
 * Returns whether something that is usually heard each `usualMs` milliseconds was silent; where nothing is usual, it
 * was not.
 */
export function isSilence({ from, until }: Silence, usualMs: number | null): boolean {
  return until - from > SILENT_MS && until - from > TIMES_USUAL * (usualMs ?? Infinity);
}

/**
 * Returns a watch that has heard something once. What is heard at one instant, such as a price at several sizes, is one
 * beat.
 */
export function watchSilence(first: Millis): SilenceWatch {
  const long: Silence[] = [];
  let last = first;
  let [count, beats] = [1, 1];
  const usualMs = (): number | null => {
    if (beats < 2) return null;
    const silent = long.reduce((sum, { from, until }) => sum + until - from, 0);
    const lively = beats - 1 - long.length;
    return lively > 0 && lively >= long.length ? (last - first - silent) / lively : (last - first) / (beats - 1);
  };
  return {
    first,
    get last() { return last; },
    get count() { return count; },
    hear(at) {
      count += 1;
      if (at === last) return;
      if (at - last > SILENT_MS) long.push({ from: last, until: at });
      last = at;
      beats += 1;
    },
    usualMs,
    silences() {
      const usual = usualMs();
      return long.filter((silence) => isSilence(silence, usual));
    },
  };
}

/** Listens to feeds, each by itself and several together. */
export interface GroupSilences<Heard> {
  hear(heard: Heard, at: Millis): void;
  /**
   * Returns when nothing was heard of any feed of a group though one of them at least was silent by its own measure
   * too: feeds that are heard each five minutes, a moment after each other, make a lively group of moments, and none of
   * them was ever silent.
   */
  silences(group: string): readonly Silence[];
}

/** Returns a watch over feeds, each of which is in the groups that are told for what is heard of it first. */
export function watchGroups<Heard extends { readonly feed: string }>(
  groupsOf: (heard: Heard) => readonly string[],
): GroupSilences<Heard> {
  const groups = new Map<string, { readonly watch: SilenceWatch; readonly members: SilenceWatch[] }>();
  const feeds = new Map<string, readonly SilenceWatch[]>();
  const begin = (heard: Heard, at: Millis): void => {
    const own = watchSilence(at);
    const together = groupsOf(heard).map((name) => {
      const group = groups.get(name);
      if (group === undefined) {
        const watch = watchSilence(at);
        groups.set(name, { watch, members: [own] });
        return watch;
      }
      group.watch.hear(at);
      group.members.push(own);
      return group.watch;
    });
    feeds.set(heard.feed, [own, ...together]);
  };
  return {
    hear(heard, at) {
      const watches = feeds.get(heard.feed);
      if (watches === undefined) begin(heard, at);
      else for (const watch of watches) watch.hear(at);
    },
    silences(name) {
      const group = groups.get(name);
      if (group === undefined) return [];
      const covering = group.members.map((member) => isWithin(member.silences()));
      return group.watch.silences().filter((silence) => covering.some((covers) => covers(silence)));
    },
  };
}

/** Returns whether a span lies within one of those, which are in order and apart; asked in the order of time. */
function isWithin(spans: readonly Silence[]): (silence: Silence) => boolean {
  let next = 0;
  return ({ from, until }) => {
    while (next < spans.length && spans[next]!.until < until) next += 1;
    return next < spans.length && spans[next]!.from <= from;
  };
}
