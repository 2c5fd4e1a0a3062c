import { printable } from '../core/text.ts';
import { Engine } from '../engine/engine.ts';
import type { FeedKey } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import { describeFeeds } from '../market/market-text.ts';
import type { TokenTable } from '../market/token.ts';

/** Returns what strategies watch and a recording lacks, in words; undefined where it has all. A strategy without its input would sit still and look as if there had been nothing to do. */
export function missingFeeds(strategies: Parameters<typeof Engine.feedsOf>[0], { feeds, tokens }: { readonly feeds: readonly FeedKey[]; readonly tokens: TokenTable }): string | undefined {
  const recorded = new Set(feeds);
  const missing = Engine.feedsOf(strategies).map(feedKey).filter((key) => !recorded.has(key));
  return missing.length === 0 ? undefined : `lacks what the strategies watch: ${printable(describeFeeds(tokens, missing), 2_000)}`;
}
