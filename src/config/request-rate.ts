import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey, isPolled, originOf, sharedFeeds } from '../market/feed.ts';
import { optimalIntervals, pollGroups } from '../market/poll-plan.ts';
import { watchRequestsPerSecond } from '../service/rate/rate-plan.ts';
import type { ProblemList } from './config-issue.ts';
import type { RunConfig, ServiceConfig, StrategyConfig, WatchedInput } from './run-config.ts';
import { watchedBy } from './run-config.ts';

/** The rounding error of a sum of rates: an interval that is longer by no more equals the wanted one. */
const ROUNDING = 1e-9;

/** A feed, and how often it will really be polled. */
export interface FeedInterval {
  readonly spec: FeedSpec;
  /** `spec.everyMs`, or longer where the rate does not suffice for all feeds; whole milliseconds, rounded up. */
  readonly expectedMs: Millis;
}

/** The requests that a configuration needs, and what the plan allows. */
export interface RequestRate {
  /** For watching alone, without the requests of swaps. */
  readonly requestsPerSecond: number;
  /** For watching, at the chain's node; each transaction that is found takes one more. */
  readonly nodeRequestsPerSecond: number;
  /** The rate of the plan; undefined where it has no limit. */
  readonly allowedPerSecond: number | undefined;
  /** The part of it for watching, after the headroom for swaps and the distance from the limit. */
  readonly watchPerSecond: number | undefined;
  /** Each distinct thing that is watched, once. */
  readonly feeds: readonly FeedInterval[];
}

/**
 * Returns the sustained requests per second that a configuration's feeds need, against what its plan allows, and what
 * becomes of each feed.
 */
export function requestRate({ service, strategies }: Pick<RunConfig, 'service' | 'strategies'>): RequestRate {
  const watched = sharedFeeds(strategies.flatMap((strategy) => watchedBy(strategy).map(({ spec }) => spec)));
  const others = watched.filter((spec) => originOf(spec) === 'node' || originOf(spec) === 'webhook');
  const groups = pollGroups(watched.filter((spec) => originOf(spec) === 'service'));
  const watchPerSecond = service.limited ? watchRequestsPerSecond(service.plan) : undefined;
  const intervals = watchPerSecond === undefined ? groups.map(({ everyMs }) => everyMs)
    : optimalIntervals(groups, watchPerSecond);
  return {
    requestsPerSecond: rounded(groups.reduce((sum, { everyMs }) => sum + 1_000 / everyMs, 0)),
    nodeRequestsPerSecond: rounded(pollGroups(others.filter((spec) => originOf(spec) === 'node'))
      .reduce((sum, { everyMs }) => sum + 1_000 / everyMs, 0)),
    allowedPerSecond: service.limited ? service.requestsPerSecond : undefined,
    watchPerSecond: watchPerSecond === undefined ? undefined : rounded(watchPerSecond),
    feeds: [
      ...groups.flatMap(({ specs, everyMs }, index) => {
        const interval = intervals[index]!;
        const expectedMs = interval <= everyMs * (1 + ROUNDING) ? everyMs : Math.ceil(interval);
        return specs.map((spec) => ({ spec, expectedMs }));
      }),
      ...others.map((spec) => ({ spec, expectedMs: spec.everyMs })),
    ],
  };
}

/** Returns the feeds that will be polled less often than is wanted. */
export function lateFeeds({ feeds }: RequestRate): FeedInterval[] {
  return feeds.filter(({ spec, expectedMs }) => expectedMs > spec.everyMs);
}

/** Returns how often each feed will really be polled, by key. */
function expectedIntervals({ feeds }: RequestRate): ReadonlyMap<FeedKey, Millis> {
  return new Map(feeds.map(({ spec, expectedMs }) => [feedKey(spec), expectedMs]));
}

function rounded(rate: number): number {
  return Number(rate.toFixed(4));
}

/** An input with how often it will really be polled. */
interface Expected extends WatchedInput {
  readonly expectedMs: Millis;
}

/**
 * Adds the strategies that cannot work at this rate: with a max_age, one of whose inputs would be older; without a
 * max_age, one of whose inputs would be polled less often than it says.
 * `strategies` stand at their place in the file; undefined where one could not be read.
 */
export function refuseExcess(
  rate: RequestRate, { service, strategies }: Pick<RunConfig, 'service'> & {
    readonly strategies: readonly (StrategyConfig | undefined)[];
  }, problems: ProblemList,
): void {
  const expected = expectedIntervals(rate);
  const late: string[] = [];
  for (const [index, strategy] of strategies.entries()) {
    if (strategy === undefined) continue;
    const { name, maxAgeMs } = strategy;
    const inputs = watchedBy(strategy).filter(({ spec }) => isPolled(spec))
      .map((input): Expected => ({ ...input, expectedMs: expected.get(feedKey(input.spec))! }));
    if (maxAgeMs === undefined) {
      late.push(...inputs.filter(({ spec, expectedMs }) => expectedMs > spec.everyMs).map((input) =>
        `"${input.name}" of ${name} ${comesLate(input)}`));
      continue;
    }
    const oldest = inputs.filter(({ expectedMs }) => expectedMs > maxAgeMs)
      .sort((a, b) => b.expectedMs - a.expectedMs)[0];
    if (oldest !== undefined)
      problems.add(['strategies', index, 'max_age'], tooOld(oldest, maxAgeMs, { rate, service }));
  }
  if (late.length === 0) return;
  const path = ['service', typeof service.plan === 'string' ? 'plan' : 'requests_per_second'];
  problems.add(path,
    `${budgetText(rate, service)}, so ${listed(late)}: watch fewer things or less often ("every"), name a larger plan, `
      + 'or give the strategy a max_age that it can work with');
}

function tooOld(
  input: Expected, maxAgeMs: Millis, { rate, service }: { readonly rate: RequestRate; readonly service: ServiceConfig },
): string {
  const found = `expected at least ${roughDuration(input.expectedMs)}, got ${roughDuration(maxAgeMs)}`;
  if (input.expectedMs <= input.spec.everyMs) {
    return `${found}: its input "${input.name}" is polled every ${roughDuration(input.spec.everyMs)}, so it would be `
      + 'too old before the next poll; raise max_age, or poll more often ("every")';
  }
  return `${found}: ${budgetText(rate, service)}, so its input "${input.name}" ${comesLate(input)}; raise max_age, `
    + 'watch fewer things or less often ("every"), or name a larger plan';
}

function comesLate({ spec, expectedMs }: Expected): string {
  return `would be polled every ${roughDuration(expectedMs)} instead of every ${roughDuration(spec.everyMs)}`;
}

function budgetText(
  { requestsPerSecond, allowedPerSecond, watchPerSecond }: RequestRate, { plan }: ServiceConfig,
): string {
  const limit = typeof plan === 'string' ? `the plan "${plan}"` : 'service.requests_per_second';
  return `what the strategies watch takes ${requestsPerSecond} requests a second, ${limit} allows ${allowedPerSecond} `
    + `and leaves ${watchPerSecond} of them for watching`;
}

const LISTED_MAX = 3;

function listed(texts: readonly string[]): string {
  const rest = texts.length - LISTED_MAX;
  return `${texts.slice(0, LISTED_MAX).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}
