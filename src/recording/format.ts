import { z } from 'zod';
import type { FeedHealth } from '../market/event.ts';
import type { FeedEventByKind, FeedKindName } from '../market/feeds/registry.ts';
import { FEED_KIND_NAMES } from '../market/feeds/registry.ts';
import type { Command } from '../trading/engine-command.ts';
import type { Outcome } from '../trading/intent.ts';

/** The format that this code writes, and the release that introduced it. Format 2 compresses complete segments. */
export const RECORDING_FORMAT = { version: 2, since: '0.2.0' } as const;

/** The formats that this code reads. */
export const READABLE_FORMATS: readonly number[] = [1, RECORDING_FORMAT.version];

/** The kinds of market events. */
export const MARKET_KINDS: readonly FeedKindName[] = FEED_KIND_NAMES;
/** The kinds of a recording, one folder each. */
export const RECORDING_KINDS: readonly RecordingKind[] = [...MARKET_KINDS, 'feed-health', 'outcome', 'command'];
export type RecordingKind = keyof InputByKind;

/** The input of each kind. */
export interface InputByKind extends FeedEventByKind {
  readonly 'feed-health': FeedHealth;
  readonly 'outcome': Outcome;
  readonly 'command': Command;
}

export const MANIFEST_FILE = 'manifest.json';
export const DIGESTS_FILE = 'digests.ndjson';
/** The lock in the folder of a recording while it is written, and after its writer died. */
export const WRITER_LOCK_FILE = 'writer.lock';

/** The origin of a recording in its manifest. */
export const recordingSource = z.discriminatedUnion('kind', [
  /** Recorded live. */
  z.object({ kind: z.literal('watched') }),
  /** Generated from a market of this name. */
  z.object({ kind: z.literal('synthetic'), market: z.string(), seed: z.number().int() }),
  /** Imported from a file of this name. */
  z.object({ kind: z.literal('imported'), file: z.string(), form: z.enum(['candles', 'quotes']) }),
]);

export type RecordingSource = Readonly<z.infer<typeof recordingSource>>;

/** The origin of a manifest without one: live recordings, and those of generators of earlier releases. */
export const WATCHED: RecordingSource = { kind: 'watched' };
