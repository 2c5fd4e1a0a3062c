import { statSync } from 'node:fs';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { EVENTS_PER_CHUNK } from '../../core/chunked-work.ts';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { uncompressedSegments } from '../compression/compact.ts';
import type { RecordingKind, RecordingSource } from '../format.ts';
import { MARKET_KINDS } from '../format.ts';
import type { Recording } from '../reader.ts';
import type { Silence, SilenceWatch } from './silence.ts';
import { watchSilence } from './silence.ts';
import { listSegments } from './verify.ts';

const MOST_GAPS = 1_000;

interface Gap extends Silence {
  readonly feed: string;
}

/** The contents of a recording, with the names of `--json`. */
export interface RecordingInfo {
  readonly recording: string;
  readonly format_version: number;
  readonly closed: boolean;
  readonly source: RecordingSource;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly node: string;
  readonly arch: string;
  readonly events: number;
  readonly bytes: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly span_ms: number | null;
  readonly truncated_at: number | null;
  readonly kinds: readonly {
    readonly kind: RecordingKind; readonly events: number; readonly rows: number; readonly segments: number;
    readonly compressed: number; readonly bytes: number;
  }[];
  readonly feeds: readonly {
    readonly feed: string; readonly events: number; readonly first_at: string; readonly last_at: string;
    readonly usual_ms: number | null;
  }[];
  readonly tokens: readonly { readonly mint: string; readonly symbol: string; readonly decimals: number }[];
  readonly gaps: readonly {
    readonly feed: string; readonly from: string; readonly until: string; readonly ms: number;
  }[];
  readonly gaps_left_out: number;
  /** Rows that a crash took. */
  readonly lost: readonly {
    readonly file: string; readonly rows: number; readonly from: string; readonly until: string;
  }[];
  /** Uncompressed segments of past hours, or of a dead writer. */
  readonly uncompressed: readonly string[];
}

/** Describes an open recording. */
export function* infoOf(recording: Recording): ChunkedWork<RecordingInfo> {
  const { directory, manifest, firstAt, lastAt } = recording;
  const listed = listSegments(directory);
  const { segments } = listed;
  const { feeds, gaps } = yield* feedsOf(recording);
  const sizes = new Map(segments.map(({ file }) => [file, sizeOf(`${directory}/${file}`)]));
  return {
    recording: directory,
    format_version: manifest.formatVersion,
    closed: manifest.closed,
    source: manifest.source,
    created_at: iso(manifest.createdAt),
    ended_at: manifest.endedAt === undefined ? null : iso(manifest.endedAt),
    node: manifest.node,
    arch: manifest.arch,
    events: recording.events,
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    first_at: firstAt === undefined ? null : iso(firstAt),
    last_at: lastAt === undefined ? null : iso(lastAt),
    span_ms: firstAt === undefined || lastAt === undefined ? null : lastAt - firstAt,
    truncated_at: recording.truncatedAt ?? null,
    kinds: recording.kinds.map((kind) => {
      const own = segments.filter(({ file }) => file.startsWith(`${kind}/`));
      const sum = (of: (digest: (typeof own)[number]) => number): number =>
        own.reduce((total, digest) => total + of(digest), 0);
      return {
        kind, events: sum(({ events }) => events), rows: sum(({ rows }) => rows), segments: own.length,
        compressed: own.filter(({ compressed }) => compressed !== undefined).length,
        bytes: sum(({ file }) => sizes.get(file)!),
      };
    }),
    feeds,
    tokens: recording.tokens.all.map(({ mint, symbol, decimals }) => ({ mint, symbol, decimals })),
    gaps: gaps.slice(0, MOST_GAPS)
      .map(({ feed, from, until }) => ({ feed, from: iso(from), until: iso(until), ms: until - from })),
    gaps_left_out: Math.max(0, gaps.length - MOST_GAPS),
    lost: recording.lost.map(({ file, rows, from, until }) => ({ file, rows, from: iso(from), until: iso(until) })),
    uncompressed: uncompressedSegments(directory, listed).map(({ file }) => file),
  };
}

/** Reads all rows once: the usual interval of a feed is only known at the end. */
function* feedsOf(
  recording: Recording,
): ChunkedWork<{ readonly feeds: RecordingInfo['feeds']; readonly gaps: readonly Gap[] }> {
  const watches = new Map<string, SilenceWatch>();
  const cursor = recording.cursor({ kinds: [...MARKET_KINDS, 'feed-health'] });
  for (let events = 1; cursor.next(); events++) {
    if (events % EVENTS_PER_CHUNK === 0) yield;
    const { input, at } = cursor;
    if (!('feed' in input)) continue;
    const watch = watches.get(input.feed);
    if (watch === undefined) watches.set(input.feed, watchSilence(at));
    else watch.hear(at);
  }
  const gaps = [...watches].flatMap(([feed, watch]) => watch.silences().map((silence): Gap => ({ feed, ...silence })));
  const feeds = [...watches].map(([feed, watch]) =>
    ({ feed, events: watch.count, first_at: iso(watch.first), last_at: iso(watch.last), usual_ms: watch.usualMs() }));
  return { feeds, gaps: gaps.sort((a, b) => a.from - b.from) };
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (cause) {
    throw new GannetError(
      'RECORDING_CORRUPT', `${path} was removed while it was read; run the command again`, { cause },
    );
  }
}

function iso(at: Millis): string {
  return new Date(at).toISOString();
}
