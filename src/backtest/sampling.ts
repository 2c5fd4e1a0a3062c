import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { FeedKey } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey, isFinerThan } from '../market/feed.ts';
import type { Input } from '../trading/step.ts';

/** How far apart a recording's rows of each feed usually are, silences left out. A feed with fewer than two rows has no entry. */
export type RecordedIntervals = ReadonlyMap<FeedKey, Millis>;

/**
 * Chooses the rows that a live scheduler would have polled. It divides time into windows of the configured interval, which
 * begin at multiples of the interval since the epoch. The first row of a window is the poll of that window.
 */
export interface Sampler {
  /** Returns whether a live run would have received this row. */
  takes(input: Input, at: Millis): boolean;
  /** Takes the next row of each feed at once, as a scheduler polls each feed when it starts. */
  restart(): void;
  /** Waits for the next window of each feed: an earlier row of the window of `at` may be the poll of it. */
  restartWithin(at: Millis): void;
  /** How far apart the rows of each feed are that it takes. */
  readonly intervals: RecordedIntervals;
}

interface SampledFeed {
  readonly everyMs: Millis;
  /** The window of the last row that was taken. */
  window: number;
}

/**
 * Returns the sampler of what is polled, each feed once, over a recording with rows so far apart; undefined where no feed is recorded more
 * often than it is polled. Rows of feeds that are not polled are taken: they say what the recording knows beside them.
 */
export function createSampler(polled: readonly FeedSpec[], recorded: RecordedIntervals): Sampler | undefined {
  const sampled = new Map<FeedKey, SampledFeed>();
  const intervals = new Map(recorded);
  for (const spec of polled) {
    const feed = feedKey(spec);
    if (!isFinerThan(recorded.get(feed), spec.everyMs)) continue;
    sampled.set(feed, { everyMs: spec.everyMs, window: -Infinity });
    intervals.set(feed, spec.everyMs);
  }
  if (sampled.size === 0) return undefined;
  return {
    intervals,
    takes(input, at) {
      const feed = 'feed' in input && input.kind !== 'feed-health' ? sampled.get(input.feed) : undefined;
      if (feed === undefined) return true;
      const window = Math.floor(at / feed.everyMs);
      if (window === feed.window) return false;
      feed.window = window;
      return true;
    },
    restart() {
      for (const feed of sampled.values()) feed.window = -Infinity;
    },
    restartWithin(at) {
      for (const feed of sampled.values()) feed.window = Math.floor((at - 1) / feed.everyMs);
    },
  };
}

/** Returns the rows of a warm-up that a sampler takes. From `until` on it returns every row: the run begins there. */
export function sampledRows(rows: RecordedRows, { sampler, until }: { readonly sampler: Sampler; readonly until: Millis }): RecordedRows {
  let input: Input | undefined;
  return {
    next: () => {
      while (rows.next()) {
        ({ input } = rows);
        if (rows.at >= until || sampler.takes(input, rows.at)) return true;
      }
      return false;
    },
    get at() { return rows.at; },
    get input() {
      assert(input, 'rows are read after the first move');
      return input;
    },
  };
}
