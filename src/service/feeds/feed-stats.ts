import type { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedHealth, FeedKey } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey, weightOf } from '../../market/feed.ts';

/** How old the data of a feed is and was: the time since it was received. Undefined before there is any. */
interface MeasuredAge {
  readonly ageMs: Millis | undefined;
  /** Averaged over the time since the first data. */
  readonly meanAgeMs: Millis | undefined;
  readonly maxAgeMs: Millis | undefined;
}

/** The counters and ages of one feed. */
export interface FeedStats extends MeasuredAge {
  readonly feed: FeedKey;
  readonly status: FeedHealth['status'];
  readonly polls: number;
  readonly answers: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  /** Undefined before the first answer. */
  readonly lastAnswerAt: Millis | undefined;
  /** The wanted interval; a plan that is too small polls less often. */
  readonly everyMs: Millis;
  readonly weight: number;
}

/** Failures in a row after which a feed counts as down rather than degraded. */
const DOWN_AFTER = 3;

/** Counts the polls of one feed, and reports changes of its health. */
export interface FeedRecord {
  /** Counts an answer; returns the report that is due when the feed has recovered by it. */
  succeeded(at: Millis): FeedHealth | undefined;
  /** Counts a failure; returns the report that is due when the status has changed by it. */
  failed(error: GannetError, at: Millis): FeedHealth | undefined;
  stats(now: Millis): FeedStats;
}

/** Returns the record of a feed that is taken for healthy until it fails. */
export function createFeedRecord(spec: FeedSpec): FeedRecord {
  const feed = feedKey(spec);
  const age = createAgeMeter();
  const counts = { polls: 0, answers: 0, failures: 0, consecutiveFailures: 0 };
  let status: FeedHealth['status'] = 'healthy';
  let lastAnswerAt: Millis | undefined;

  return {
    succeeded(at) {
      counts.polls += 1;
      counts.answers += 1;
      counts.consecutiveFailures = 0;
      lastAnswerAt = at;
      age.renewed(at);
      if (status === 'healthy') return undefined;
      status = 'healthy';
      return { kind: 'feed-health', feed, receivedAt: at, status, consecutiveFailures: 0 };
    },

    failed(error, at) {
      counts.polls += 1;
      counts.failures += 1;
      counts.consecutiveFailures += 1;
      const now = counts.consecutiveFailures >= DOWN_AFTER ? 'down' : 'degraded';
      if (now === status) return undefined;
      status = now;
      const { consecutiveFailures } = counts;
      return {
        kind: 'feed-health', feed, receivedAt: at, status, code: error.code, message: printable(error.message, 300),
        consecutiveFailures,
      };
    },

    stats: (now) =>
      ({ feed, status, ...counts, lastAnswerAt, everyMs: spec.everyMs, weight: weightOf(spec), ...age.read(now) }),
  };
}

/** Measures the age of data that is renewed repeatedly. */
interface AgeMeter {
  renewed(at: Millis): void;
  read(now: Millis): MeasuredAge;
}

/** Returns the meter of something that has no data yet. */
function createAgeMeter(): AgeMeter {
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
