import type { Millis } from '../core/time.ts';
import type { FeedSpec } from './feed.ts';
import { feedKey, sharedFeeds, weightOf } from './feed.ts';
import { feedKindOf } from './feeds/registry.ts';

/** The feeds that one request serves; its weight is the sum of theirs, the largest where they have one answer. */
interface PollGroup extends PollDemand {
  readonly specs: readonly FeedSpec[];
}

/**
 * Returns the requests that serve the specs: each feed once. Feeds of one kind and one interval share requests, as many
 * as one request serves; a feed that another's request answers too shares that one.
 */
export function pollGroups(specs: Iterable<FeedSpec>): PollGroup[] {
  const together = new Map<string, FeedSpec[]>();
  const alone = new Map<string, FeedSpec[]>();
  const shared = sharedFeeds(specs);
  for (const spec of shared) {
    const { feedsPerRequest, answeredWith, keyOf, requestOf } = feedKindOf(spec.kind);
    if (answeredWith !== undefined) continue;
    if (feedsPerRequest === 1) {
      alone.set(`${spec.kind} ${spec.everyMs} ${keyOf(spec)}`, [spec]);
      continue;
    }
    const rate = `${spec.kind} ${spec.everyMs} ${requestOf?.(spec) ?? ''}`;
    together.set(rate, [...together.get(rate) ?? [], spec]);
  }
  for (const spec of shared) {
    const { answeredWith, keyOf } = feedKindOf(spec.kind);
    if (answeredWith === undefined) continue;
    const answering = alone.get(`${answeredWith} ${spec.everyMs} ${keyOf(spec)}`);
    if (answering === undefined) alone.set(feedKey(spec), [spec]);
    else answering.push(spec);
  }
  const groups = [...alone.values()].map((own) => groupOf(own, Math.max(...own.map(weightOf))));
  for (const own of together.values()) {
    const most = feedKindOf(own[0]!.kind).feedsPerRequest;
    for (let first = 0; first < own.length; first += most) groups.push(groupOf(own.slice(first, first + most)));
  }
  return groups;
}

function groupOf(
  specs: readonly FeedSpec[], weight = specs.reduce((sum, spec) => sum + weightOf(spec), 0),
): PollGroup {
  return { specs, everyMs: specs[0]!.everyMs, weight };
}

/** The freshness that one request is to give. */
export interface PollDemand {
  /** The wanted interval: it is never polled more often. */
  readonly everyMs: Millis;
  /** The cost of one millisecond of its age relative to the others'. Positive. */
  readonly weight: number;
}

/**
 * Returns how far apart the polls of each demand should be, in the same order, so that the weighted mean age of all
 * data is the least that `requestsPerSecond` allows. Between polls an age grows from 0 to the interval T, so its mean
 * is T / 2. The sum of weight × T / 2 under a bounded sum of 1 / T is least where T is proportional to 1 / √weight
 * (Lagrange; the square-root rule of web crawling, Cho and Garcia-Molina 2003). Demands that would be polled more often
 * than wanted stay at `everyMs`; the others share the rest of the rate.
 */
export function optimalIntervals(demands: readonly PollDemand[], requestsPerSecond: number): Millis[] {
  const intervals = demands.map(({ everyMs }) => everyMs);
  let open = demands.map((_, index) => index);
  let rateLeft = requestsPerSecond / 1_000;
  for (;;) {
    const roots = open.reduce((sum, index) => sum + Math.sqrt(demands[index]!.weight), 0);
    // Without any rate left, nothing is polled.
    const intervalOf = (index: number): Millis =>
      (rateLeft > 0 ? roots / (rateLeft * Math.sqrt(demands[index]!.weight)) : Infinity);
    const satisfied = open.filter((index) => intervalOf(index) <= demands[index]!.everyMs);
    if (satisfied.length === 0) {
      for (const index of open) intervals[index] = intervalOf(index);
      return intervals;
    }
    for (const index of satisfied) rateLeft -= 1 / demands[index]!.everyMs;
    open = open.filter((index) => !satisfied.includes(index));
    if (open.length === 0) return intervals;
  }
}
