import type { Observable } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from './event.ts';
import type { Mint } from './token.ts';

/** A subject to poll, its interval, and its weight where the request rate does not suffice for every interval. */
export type FeedSpec = FeedRate & (
  | { readonly kind: 'quote'; readonly inputMint: Mint; readonly outputMint: Mint; readonly amount: Amount }
  | { readonly kind: 'order-book'; readonly marketId: string }
  | { readonly kind: 'token-stats'; readonly mint: Mint }
);

interface FeedRate {
  readonly everyMs: Millis;
  /** Relative to the other feeds' weights; 1 where absent. */
  readonly weight?: number | undefined;
}

/** Returns the weight of a feed's freshness relative to other feeds; 1 unless configured. */
export function weightOf({ weight = 1 }: Pick<FeedSpec, 'weight'>): number {
  return weight;
}

/** Polls and emits typed events. It never errors and never completes by itself: a fault is a `feed-health` event. */
export interface Feed {
  readonly events$: Observable<MarketEvent>;
}

/** Returns the key of the subject that a spec polls, whatever its rate. */
export function feedKey(spec: FeedSpec): FeedKey {
  switch (spec.kind) {
    case 'quote': return `quote:${spec.inputMint}:${spec.outputMint}:${spec.amount}`;
    case 'order-book': return `order-book:${spec.marketId}`;
    case 'token-stats': return `token-stats:${spec.mint}`;
  }
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
