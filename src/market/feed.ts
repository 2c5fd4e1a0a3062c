import type { Observable } from 'rxjs';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from './event.ts';
import type { Declared, FeedOrigin, Reading } from './feeds/feed-kind.ts';
import type { FeedKindName, FeedSubject } from './feeds/registry.ts';
import { feedKindOf, isFeedKind, readFeedSubject } from './feeds/registry.ts';

/** A subject to poll, its interval, and its weight where the request rate does not suffice for every interval. */
export type FeedSpec = FeedRate & FeedSubject;

/** How often a subject is polled. */
interface FeedRate {
  readonly everyMs: Millis;
  /** Relative to the other feeds' weights; 1 where absent. */
  readonly weight?: number | undefined;
}

/** Returns the weight of a feed's freshness relative to other feeds; 1 unless configured. */
export function weightOf({ weight = 1 }: Pick<FeedSpec, 'weight'>): number {
  return weight;
}

/** Returns what makes the events of a kind of feed. */
export function originOf({ kind }: { readonly kind: FeedKindName }): FeedOrigin {
  return feedKindOf(kind).origin ?? 'service';
}

/** Returns whether polls renew a feed, so that its data has an age. */
export function isPolled(spec: { readonly kind: FeedKindName }): boolean {
  return isPolledOrigin(originOf(spec));
}

/** Returns the same of an origin. */
export function isPolledOrigin(origin: FeedOrigin): boolean {
  return origin === 'service' || origin === 'node';
}

/** Returns what makes the events of the feed with a key; the service for a key of an unknown kind. */
export function originOfKey(feed: FeedKey): FeedOrigin {
  const kind = feed.slice(0, feed.indexOf(':'));
  return isFeedKind(kind) ? originOf({ kind }) : 'service';
}

/** Polls and emits typed events. It never errors and never completes by itself: a fault is a `feed-health` event. */
export interface Feed {
  readonly events$: Observable<MarketEvent>;
}

/** Returns the key of the subject that a spec polls, whatever its rate. */
export function feedKey(subject: FeedSubject | FeedSpec): FeedKey {
  return `${subject.kind}:${feedKindOf(subject.kind).keyOf(subject)}`;
}

/** Returns each distinct feed once, at the shortest interval and the largest weight of its specs. */
export function sharedFeeds(specs: Iterable<FeedSpec>): FeedSpec[] {
  const byKey = new Map<FeedKey, FeedSpec>();
  for (const spec of specs) {
    const known = byKey.get(feedKey(spec));
    byKey.set(feedKey(spec), known === undefined ? spec
      : { ...spec, everyMs: Math.min(spec.everyMs, known.everyMs), weight: Math.max(weightOf(spec), weightOf(known)) });
  }
  return [...byKey.values()];
}

const WEIGHT_MAX = 1e6;
/** The longest duration that the SDK takes. */
const INTERVAL_MAX = 8.64e15;

/** Returns a feed that a strategy declares, amounts as decimal text, or what is wrong with it: "has …". */
export function readFeedSpec(declared: Declared, reading: Reading): FeedSpec | string {
  const { everyMs, weight } = declared;
  const { shown } = reading;
  if (!Number.isInteger(everyMs) || (everyMs as number) < 1 || (everyMs as number) > INTERVAL_MAX)
    return `has the interval ${shown(everyMs)}: expected a whole number of milliseconds of at least 1`;
  if (weight !== undefined && !(typeof weight === 'number' && weight > 0 && weight <= WEIGHT_MAX))
    return `has the weight ${shown(weight)}: expected a number above 0, at most ${WEIGHT_MAX}`;
  const subject = readFeedSubject(declared, reading);
  return typeof subject === 'string' ? subject
    : { ...subject, everyMs: everyMs as number, ...(weight === undefined ? {} : { weight }) };
}

/** Returns a feed in the form that `readFeedSpec` reads. */
export function declaredFeed(spec: FeedSpec): Declared {
  return Object.fromEntries(Object.entries(spec).map(([name, value]: [string, unknown]) =>
    [name, typeof value === 'bigint' ? value.toString() : value]));
}
