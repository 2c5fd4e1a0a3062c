import type { Millis } from '../../core/time.ts';

/** A silence shorter than this is not reported. */
const SILENT_MS = 60_000;
const TIMES_USUAL = 5;

/** From the last event before a silence to the first after it. */
export interface Silence {
  readonly from: Millis;
  readonly until: Millis;
}

/** Measures how often events arrive, and finds the silences between them. */
export interface SilenceWatch {
  readonly first: Millis;
  readonly last: Millis;
  readonly count: number;
  hear(at: Millis): void;
  /** The usual interval, milliseconds; null for fewer than two events. */
  readonly usualMs: () => number | null;
  /** Returns silences of at least a minute and five times the usual interval. They are only known at the end. */
  silences(): readonly Silence[];
}

/** Returns whether a span is a silence of a feed with this usual interval in milliseconds; false without one. */
export function isSilence({ from, until }: Silence, usualMs: number | null): boolean {
  return until - from > SILENT_MS && until - from > TIMES_USUAL * (usualMs ?? Infinity);
}

/**
 * Returns a watch after its first event. Events at one instant, such as a price at several sizes, count as one for the
 * interval.
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

/** Finds silences of single feeds and of groups of feeds. */
interface GroupSilences<Heard> {
  hear(heard: Heard, at: Millis): void;
  /**
   * Returns when all feeds of a group were silent, and at least one of them by its own interval too. Feeds that are
   * each polled every five minutes, a moment apart, make a group of short intervals without being silent.
   */
  silences(group: string): readonly Silence[];
}

/** Returns a watch over feeds. `groupsOf` names the groups of a feed at its first event. */
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

/**
 * Returns a check whether a span lies within one of `spans`, which are in order and do not overlap. Ask in the order of
 * time.
 */
function isWithin(spans: readonly Silence[]): (silence: Silence) => boolean {
  let next = 0;
  return ({ from, until }) => {
    while (next < spans.length && spans[next]!.until < until) next += 1;
    return next < spans.length && spans[next]!.from <= from;
  };
}
