import type { FeedHealth } from '../market/event.ts';
import type { OrderBook } from '../market/order-book.ts';
import type { Quote } from '../market/quote.ts';
import type { TokenStats } from '../market/token-stats.ts';
import type { Command } from '../trading/command.ts';
import type { Outcome } from '../trading/intent.ts';
import { z } from 'zod';

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
/** In a recording's folder while it is written to, and after its writer died. */
export const WRITER_LOCK_FILE = 'writer.lock';

/** Where a recording's events come from, as its manifest says it. */
export const recordingSource = z.discriminatedUnion('kind', [
  /** Watched as they happened. */
  z.object({ kind: z.literal('watched') }),
  /** Made up, of a market of this name. */
  z.object({ kind: z.literal('synthetic'), market: z.string(), seed: z.number().int() }),
  /** Taken from a file of this name. */
  z.object({ kind: z.literal('imported'), file: z.string(), form: z.enum(['candles', 'quotes']) }),
]);

export type RecordingSource = Readonly<z.infer<typeof recordingSource>>;

/**
 * What a manifest means that names no source: only what watches wrote such ones, and generators of releases before this
 * one.
 */
export const WATCHED: RecordingSource = { kind: 'watched' };
