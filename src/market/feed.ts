import type { Observable } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from './event.ts';
import type { Mint } from './token.ts';

/** What can be watched, how often, and how much its freshness matters where not everything can be polled that often. */
export type FeedSpec = FeedRate & (
  | { readonly kind: 'quote'; readonly inputMint: Mint; readonly outputMint: Mint; readonly amount: Amount }
  | { readonly kind: 'order-book'; readonly marketId: string }
  | { readonly kind: 'token-stats'; readonly mint: Mint }
);

interface FeedRate {
  readonly everyMs: Millis;
  /** Beside the other feeds' weights; 1 where absent. */
  readonly weight?: number | undefined;
}

/** Returns how much a feed's freshness matters beside the others': 1 unless somebody said otherwise. */
export function weightOf({ weight = 1 }: Pick<FeedSpec, 'weight'>): number {
  return weight;
}

/** Polls and emits typed events. It never errors and never completes by itself: trouble is a `feed-health` event. */
export interface Feed {
  readonly events$: Observable<MarketEvent>;
}

/** Returns the key that names what a spec watches, whatever its rate. */
export function feedKey(spec: FeedSpec): FeedKey {
  switch (spec.kind) {
    case 'quote': return `quote:${spec.inputMint}:${spec.outputMint}:${spec.amount}`;
    case 'order-book': return `order-book:${spec.marketId}`;
    case 'token-stats': return `token-stats:${spec.mint}`;
  }
}

/** Returns each distinct thing once, at the fastest rate and the largest weight anybody asked for. */
export function sharedFeeds(specs: Iterable<FeedSpec>): FeedSpec[] {
  const byKey = new Map<FeedKey, FeedSpec>();
  for (const spec of specs) {
    const known = byKey.get(feedKey(spec));
    byKey.set(feedKey(spec), known === undefined ? spec
      : { ...spec, everyMs: Math.min(spec.everyMs, known.everyMs), weight: Math.max(weightOf(spec), weightOf(known)) });
  }
  return [...byKey.values()];
}
