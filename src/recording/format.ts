import type { FeedHealth } from '../market/event.ts';
import type { OrderBook } from '../market/order-book.ts';
import type { Quote } from '../market/quote.ts';
import type { TokenStats } from '../market/token-stats.ts';
import type { Command } from '../trading/command.ts';
import type { Outcome } from '../trading/intent.ts';

/**
 * The format that this code writes, and the release that introduced it. Format 2 compresses the segments that have
 * ended.
 */
export const RECORDING_FORMAT = { version: 2, since: '0.2.0' } as const;

/** The formats that this code reads. */
export const READABLE_FORMATS: readonly number[] = [1, RECORDING_FORMAT.version];

/** What a recording keeps, one folder each. */
export const RECORDING_KINDS = ['quote', 'order-book', 'token-stats', 'feed-health', 'outcome', 'command'] as const;
export type RecordingKind = (typeof RECORDING_KINDS)[number];

/** The input that a kind stands for. */
export interface InputByKind {
  readonly 'quote': Quote;
  readonly 'order-book': OrderBook;
  readonly 'token-stats': TokenStats;
  readonly 'feed-health': FeedHealth;
  readonly 'outcome': Outcome;
  readonly 'command': Command;
}

export const MANIFEST_FILE = 'manifest.json';
export const DIGESTS_FILE = 'digests.ndjson';
