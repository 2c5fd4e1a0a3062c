import type { FeedSpec } from '../market/feed.ts';
import { sharedFeeds } from '../market/feed.ts';
import { watchedBy } from './resolve-strategies.ts';
import type { RunConfig } from './run-config.ts';

/** The service answers for this many tokens in one request. */
const TOKENS_PER_REQUEST = 100;

/** What a configuration asks of the service. */
export interface RequestRate {
  /** For watching alone: what swaps need comes on top. */
  readonly requestsPerSecond: number;
  /** What the plan allows; undefined where nothing limits it. */
  readonly allowedPerSecond: number | undefined;
  /** Each distinct thing that is watched, once. */
  readonly feeds: readonly FeedSpec[];
}

/** Returns the sustained requests per second that a configuration's feeds need, against what its plan allows. */
export function requestRate(config: Pick<RunConfig, 'service' | 'strategies'>): RequestRate {
  const feeds = sharedFeeds(config.strategies.flatMap(watchedBy));
  return {
    requestsPerSecond: Number(feedRate(feeds).toFixed(4)),
    allowedPerSecond: config.service.limited ? config.service.requestsPerSecond : undefined,
    feeds,
  };
}

/** Token statistics that are polled at one rate share requests; everything else has one of its own. */
function feedRate(feeds: readonly FeedSpec[]): number {
  const tokensByRate = new Map<number, number>();
  let rate = 0;
  for (const { kind, everyMs } of feeds) {
    if (kind === 'token-stats') tokensByRate.set(everyMs, (tokensByRate.get(everyMs) ?? 0) + 1);
    else rate += 1_000 / everyMs;
  }
  for (const [everyMs, tokens] of tokensByRate) rate += (Math.ceil(tokens / TOKENS_PER_REQUEST) * 1_000) / everyMs;
  return rate;
}
