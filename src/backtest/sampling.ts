import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { StrategyInstance } from '../engine/strategy-host.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { FeedKey } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey } from '../market/feed.ts';
import type { SampleWindows } from '../market/sample-windows.ts';
import { isFinerThan, joinSampling, restartSampling, takesSample } from '../market/sample-windows.ts';
import { specsOf } from '../strategy/input.ts';
import type { Input } from '../trading/step.ts';

/**
 * The usual interval between a recording's rows of each feed, gaps excluded. A feed with fewer than two rows has no
 * entry.
 */
export type RecordedIntervals = ReadonlyMap<FeedKey, Millis>;

/** Selects the rows that a live scheduler would have polled. */
export interface Sampler {
  /** Returns whether a live run would have received this row. */
  takes(input: Input, at: Millis): boolean;
  /** Takes the next row of each feed at once. */
  restart(): void;
  /** Waits for the next window of each feed. */
  join(at: Millis): void;
  /**
   * Takes every row of the feeds that are watched at shorter intervals than they are polled at, as long as they are:
   * the engine then samples each input. `watched` are all watches at present.
   */
  watch(watched: readonly FeedSpec[]): void;
  /** The intervals between the rows of each feed that it takes, at present. */
  readonly intervals: RecordedIntervals;
}

/**
 * Returns the sampler of polled feeds; undefined where no feed is recorded more often than it is polled. It takes all
 * rows of feeds that are not polled: they are additional knowledge of the recording.
 */
export function createSampler(polled: readonly FeedSpec[], recorded: RecordedIntervals): Sampler | undefined {
  const sampled = new Map<FeedKey, SampleWindows>();
  const intervals = new Map(recorded);
  for (const spec of polled) {
    const feed = feedKey(spec);
    if (!isFinerThan(recorded.get(feed), spec)) continue;
    sampled.set(feed, { everyMs: spec.everyMs, window: -Infinity });
    intervals.set(feed, spec.everyMs);
  }
  if (sampled.size === 0) return undefined;
  const whole = new Set<FeedKey>();
  return {
    intervals,
    takes(input, at) {
      if (!('feed' in input) || input.kind === 'feed-health') return true;
      const windows = sampled.get(input.feed);
      return windows === undefined || takesSample(windows, at)
        || (whole.size > 0 && whole.has(input.feed));
    },
    watch(watched) {
      for (const feed of whole) intervals.set(feed, sampled.get(feed)!.everyMs);
      whole.clear();
      for (const spec of watched) {
        const feed = feedKey(spec);
        if (spec.everyMs >= (sampled.get(feed)?.everyMs ?? 0)) continue;
        whole.add(feed);
        intervals.set(feed, recorded.get(feed)!);
      }
    },
    restart() {
      for (const windows of sampled.values()) restartSampling(windows);
    },
    join(at) {
      for (const windows of sampled.values()) joinSampling(windows, at);
    },
  };
}

/** Returns the rows of a warm-up that a sampler takes. From `until` on it returns every row: the run begins there. */
export function sampledRows(
  rows: RecordedRows, { sampler, until }: { readonly sampler: Sampler; readonly until: Millis },
): RecordedRows {
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

/** An input that does not receive every recorded row of its feed. */
export interface SampledInput {
  readonly strategy: string;
  readonly feed: FeedKey;
  readonly recordedMs: Millis;
  readonly everyMs: Millis;
}

/** Returns the inputs of strategies whose feeds are recorded more often than the strategies request. */
export function sampledInputs(strategies: readonly StrategyInstance[], recorded: RecordedIntervals): SampledInput[] {
  return strategies.flatMap(({ name, strategy, params }) =>
    Object.values(strategy.inputs(params)).flatMap(specsOf).flatMap((spec): SampledInput[] => {
      const feed = feedKey(spec);
      const recordedMs = recorded.get(feed);
      return recordedMs === undefined || !isFinerThan(recordedMs, spec) ? []
        : [{ strategy: name, feed, recordedMs, everyMs: spec.everyMs }];
    }));
}
