import { counted, grouped } from '../core/counted.ts';
import { printable } from '../core/text.ts';
import { Engine } from '../engine/engine.ts';
import type { FeedKey } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import { describeFeeds } from '../market/market-text.ts';
import type { TokenTable } from '../market/token.ts';

/** So many of a kind are named, the others counted. */
const MOST_SIZES = 5;
const MOST_NAMED = 10;
const LONGEST = 2_000;

/** What is watched, and what a recording has. */
interface Watched {
  readonly feeds: readonly FeedKey[];
  readonly tokens: TokenTable;
}

/**
 * Returns what strategies watch and a recording lacks, in words; undefined where it has all. A strategy without its
 * input would sit still and look as if there had been nothing to do.
 */
export function missingFeeds(
  strategies: Parameters<typeof Engine.feedsOf>[0], { feeds, tokens }: Watched,
): string | undefined {
  const missing = missingKeys(strategies, feeds);
  if (missing.length === 0) return undefined;
  const ofNothing = missing.some((feed) => sizeOf(feed) === 0)
    ? ': for nothing there is no price anywhere, name a size above 0' : '';
  return `lacks what the strategies watch: ${printable(feedsText(missing, { tokens }), LONGEST)}${ofNothing}`;
}

/**
 * Returns what a recording holds, in words, the pairs and sizes first that are nearest to what strategies watch and it
 * lacks; empty where it holds nothing.
 */
export function heldFeeds(strategies: Parameters<typeof Engine.feedsOf>[0], { feeds, tokens }: Watched): string {
  return printable(feedsText(feeds, { tokens, wanted: missingKeys(strategies, feeds) }), LONGEST);
}

function missingKeys(strategies: Parameters<typeof Engine.feedsOf>[0], feeds: readonly FeedKey[]): readonly FeedKey[] {
  const recorded = new Set(feeds);
  return Engine.feedsOf(strategies).map(feedKey).filter((key) => !recorded.has(key));
}

/** All of what there is where it is not too much to be read. */
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
      return `${describeFeeds(tokens, shown)}${more > 0 ? ` (and of ${counted(more, 'more size')})` : ''}`;
    }),
    ...(others > 0 ? [`prices of ${counted(others, 'more pair')}`] : []),
    ...groups.filter(([group]) => !isPair(group)).map(([, own]) => {
      const more = own.length - MOST_NAMED;
      return `${describeFeeds(tokens, own.slice(0, MOST_NAMED))}${more > 0 ? ` (and of ${grouped(String(more))} more)` : ''}`;
    }),
  ].join('; ');
}

/** By how many times as large one is as the other. */
function nearestSizes(feeds: readonly FeedKey[], wanted: readonly FeedKey[]): readonly FeedKey[] {
  if (feeds.length <= MOST_SIZES) return feeds;
  const distance = (feed: FeedKey): number =>
    Math.min(...wanted.map((other) => Math.abs(magnitude(feed) - magnitude(other))));
  return feeds.toSorted((a, b) => (wanted.length === 0 ? 0 : distance(a) - distance(b)) || sizeOf(a) - sizeOf(b))
    .slice(0, MOST_SIZES);
}

/** Of nothing, the smallest is nearest. */
function magnitude(feed: FeedKey): number {
  return Math.log(Math.max(sizeOf(feed), 0.5));
}

const PRICE = /^(quote:.*):(\d+)$/;

/** A pair of tokens, or the kind. */
function groupOf(feed: FeedKey): string {
  return PRICE.exec(feed)?.[1] ?? feed.split(':')[0]!;
}

function isPair(group: string): boolean {
  return group.includes(':');
}

function sizeOf(feed: FeedKey): number {
  return Number(PRICE.exec(feed)?.[2] ?? Number.NaN);
}
