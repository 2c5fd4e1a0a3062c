import { groupThousands, pluralize, printable } from '../core/text.ts';
import { Engine } from '../engine/engine.ts';
import type { FeedKey } from '../market/event.ts';
import { feedKey, originOf, originOfKey } from '../market/feed.ts';
import { describeFeeds } from '../market/market-text.ts';
import type { TokenTable } from '../market/token.ts';

/** A message names this many of a kind, and counts the others. */
const MOST_SIZES = 5;
const MOST_NAMED = 10;
const LONGEST = 2_000;

/** The feeds of a recording, and the known tokens. */
interface Watched {
  readonly feeds: readonly FeedKey[];
  readonly tokens: TokenTable;
}

/**
 * Returns, in words, what strategies watch and a recording lacks; undefined where nothing is missing. A strategy
 * without its input would do nothing, as if the market had given it no reason to.
 */
export function missingFeeds(
  strategies: Parameters<typeof Engine.feedsOf>[0], { feeds, tokens }: Watched,
): string | undefined {
  const missing = missingKeys(strategies, feeds);
  if (missing.length === 0) return undefined;
  const ofNothing = missing.some((feed) => sizeOf(feed) === 0)
    ? ': a size of 0 has no price, name a size above 0' : '';
  return `lacks what the strategies watch: ${printable(feedsText(missing, { tokens }), LONGEST)}${ofNothing}`;
}

/**
 * Returns, in words, what a recording holds; empty where it holds nothing. The pairs and sizes that are nearest to the
 * missing ones come first.
 */
export function heldFeeds(strategies: Parameters<typeof Engine.feedsOf>[0], { feeds, tokens }: Watched): string {
  return printable(feedsText(feeds, { tokens, wanted: missingKeys(strategies, feeds) }), LONGEST);
}

/** Where signals were taken, one that is missing was not sent. */
function missingKeys(strategies: Parameters<typeof Engine.feedsOf>[0], feeds: readonly FeedKey[]): readonly FeedKey[] {
  const recorded = new Set(feeds);
  const hasSignals = feeds.some((feed) => originOfKey(feed) === 'webhook');
  return Engine.feedsOf(strategies).filter((spec) => !(hasSignals && originOf(spec) === 'webhook'))
    .map(feedKey).filter((key) => !recorded.has(key));
}

/** Names all feeds where they are few. */
function feedsText(feeds: readonly FeedKey[], { tokens, wanted = [] }: {
  readonly tokens: TokenTable; readonly wanted?: readonly FeedKey[];
}): string {
  const wantedSizes = Map.groupBy(wanted, groupOf);
  const groups = [...Map.groupBy(feeds, groupOf)]
    .toSorted(([a], [b]) => Number(wantedSizes.has(b)) - Number(wantedSizes.has(a)));
  const pairs = groups.filter(([group]) => isPair(group));
  const others = pairs.length - MOST_NAMED;
  return [
    ...pairs.slice(0, MOST_NAMED).map(([group, own]) => {
      const shown = nearestSizes(own, wantedSizes.get(group) ?? []);
      const more = own.length - shown.length;
      return `${describeFeeds(tokens, shown)}${more > 0 ? ` (and of ${pluralize(more, 'more size')})` : ''}`;
    }),
    ...(others > 0 ? [`prices of ${pluralize(others, 'more pair')}`] : []),
    ...groups.filter(([group]) => !isPair(group)).map(([, own]) => {
      const more = own.length - MOST_NAMED;
      const others = more > 0 ? ` (and of ${groupThousands(String(more))} more)` : '';
      return `${describeFeeds(tokens, own.slice(0, MOST_NAMED))}${others}`;
    }),
  ].join('; ');
}

/** Returns the feeds whose sizes are nearest to wanted ones, by the ratio of both sizes. */
function nearestSizes(feeds: readonly FeedKey[], wanted: readonly FeedKey[]): readonly FeedKey[] {
  if (feeds.length <= MOST_SIZES) return feeds;
  const distance = (feed: FeedKey): number =>
    Math.min(...wanted.map((other) => Math.abs(magnitude(feed) - magnitude(other))));
  return feeds.toSorted((a, b) => (wanted.length === 0 ? 0 : distance(a) - distance(b)) || sizeOf(a) - sizeOf(b))
    .slice(0, MOST_SIZES);
}

/** The logarithm of a size; a size of 0 counts as the smallest. */
function magnitude(feed: FeedKey): number {
  return Math.log(Math.max(sizeOf(feed), 0.5));
}

const PRICE = /^(quote(?:-detail)?:.*):(\d+)$/;

/** Returns the pair of a price feed, else the kind of the feed. */
function groupOf(feed: FeedKey): string {
  return PRICE.exec(feed)?.[1] ?? feed.split(':')[0]!;
}

function isPair(group: string): boolean {
  return group.includes(':');
}

function sizeOf(feed: FeedKey): number {
  return Number(PRICE.exec(feed)?.[2] ?? Number.NaN);
}
