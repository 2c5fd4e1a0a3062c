import type { MarketEventBase } from './event-base.ts';
import type { FeedEvent } from './feeds/registry.ts';

export type { FeedKey, MarketEventBase } from './event-base.ts';

/** A feed's report of its own health: a fault is an event, never an error. */
export interface FeedHealth extends MarketEventBase {
  readonly kind: 'feed-health';
  readonly status: 'healthy' | 'degraded' | 'down';
  /** The error code of the last failure, absent when healthy. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly consecutiveFailures: number;
}

/** Everything that a feed can emit. */
export type MarketEvent = FeedEvent | FeedHealth;
