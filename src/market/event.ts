import type { Millis } from '../core/time.ts';
import type { OrderBook } from './order-book.ts';
import type { Quote } from './quote.ts';
import type { TokenStats } from './token-stats.ts';

/** The name of one polled thing; the same in configuration, live feeds and recordings. */
export type FeedKey = string;

/** What every market event carries. */
export interface MarketEventBase {
  readonly feed: FeedKey;
  /** When we knew it: the stamp. Replay shows the event at this time and no sooner. */
  readonly receivedAt: Millis;
  /** When it was so, where the source says. */
  readonly eventAt?: Millis | undefined;
}

/** A feed's own report: trouble is an event, never an error. */
export interface FeedHealth extends MarketEventBase {
  readonly kind: 'feed-health';
  readonly status: 'healthy' | 'degraded' | 'down';
  /** The error code of the last failure, absent when healthy. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly consecutiveFailures: number;
}

/** Everything a feed can say. */
export type MarketEvent = Quote | OrderBook | TokenStats | FeedHealth;
