import type { Observable } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from './event.ts';
import type { Mint } from './token.ts';

/** What can be watched, and how often. */
export type FeedSpec =
  | { readonly kind: 'quote'; readonly inputMint: Mint; readonly outputMint: Mint; readonly amount: Amount; readonly everyMs: Millis }
  | { readonly kind: 'order-book'; readonly marketId: string; readonly everyMs: Millis }
  | { readonly kind: 'token-stats'; readonly mint: Mint; readonly everyMs: Millis };

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

/** Returns each distinct thing once, at the fastest rate anybody asked for. */
export function sharedFeeds(specs: Iterable<FeedSpec>): FeedSpec[] {
  const byKey = new Map<FeedKey, FeedSpec>();
  for (const spec of specs) {
    const known = byKey.get(feedKey(spec));
    if (known === undefined || spec.everyMs < known.everyMs) byKey.set(feedKey(spec), spec);
  }
  return [...byKey.values()];
}
