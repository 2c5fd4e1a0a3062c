import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey } from '../market/feed.ts';
import { optimalIntervals } from '../market/freshness.ts';
import { pollGroups } from '../market/poll-groups.ts';
import { watchRequestsPerSecond } from '../service/rate/rate-plan.ts';
import type { RunConfig } from './run-config.ts';
import { watchedBy } from './watched-by.ts';

/** What a double adds to a sum of rates: an interval that is longer by no more is the one that is wanted. */
const ROUNDING = 1e-9;

/** A feed, and how often it will really be polled. */
export interface FeedInterval {
  readonly spec: FeedSpec;
  /** `spec.everyMs`, or longer where the rate does not suffice for all feeds; whole milliseconds, rounded up. */
  readonly expectedMs: Millis;
}

/** What a configuration asks of the service. */
export interface RequestRate {
  /** For watching alone: what swaps need comes on top. */
  readonly requestsPerSecond: number;
  /** What the plan allows; undefined where nothing limits it. */
  readonly allowedPerSecond: number | undefined;
  /** What of it is left for watching, after the headroom for swaps and the distance kept from the limit. */
  readonly watchPerSecond: number | undefined;
  /** Each distinct thing that is watched, once. */
  readonly feeds: readonly FeedInterval[];
}

/**
 * Returns the sustained requests per second that a configuration's feeds need, against what its plan allows, and what
 * becomes of each feed.
 */
export function requestRate({ service, strategies }: Pick<RunConfig, 'service' | 'strategies'>): RequestRate {
  const groups = pollGroups(strategies.flatMap((strategy) => watchedBy(strategy).map(({ spec }) => spec)));
  const watchPerSecond = service.limited ? watchRequestsPerSecond(service.plan) : undefined;
  const intervals = watchPerSecond === undefined ? groups.map(({ everyMs }) => everyMs)
    : optimalIntervals(groups, watchPerSecond);
  return {
    requestsPerSecond: rounded(groups.reduce((sum, { everyMs }) => sum + 1_000 / everyMs, 0)),
    allowedPerSecond: service.limited ? service.requestsPerSecond : undefined,
    watchPerSecond: watchPerSecond === undefined ? undefined : rounded(watchPerSecond),
    feeds: groups.flatMap(({ specs, everyMs }, index) => {
      const interval = intervals[index]!;
      const expectedMs = interval <= everyMs * (1 + ROUNDING) ? everyMs : Math.ceil(interval);
      return specs.map((spec) => ({ spec, expectedMs }));
    }),
  };
}

/** Returns the feeds that will be polled less often than is wanted. */
export function lateFeeds({ feeds }: RequestRate): FeedInterval[] {
  return feeds.filter(({ spec, expectedMs }) => expectedMs > spec.everyMs);
}

/** Returns how often each feed will really be polled, by key. */
export function expectedIntervals({ feeds }: RequestRate): ReadonlyMap<FeedKey, Millis> {
  return new Map(feeds.map(({ spec, expectedMs }) => [feedKey(spec), expectedMs]));
}

function rounded(rate: number): number {
  return Number(rate.toFixed(4));
}
