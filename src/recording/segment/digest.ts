import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';

/** The properties of the first `bytes` bytes of a segment file, which end with a complete batch. */
export interface SegmentDigest {
  /** Relative to the recording, with forward slashes. */
  readonly file: string;
  readonly bytes: number;
  /** The hash of these bytes, hex. */
  readonly sha256: string;
  readonly rows: number;
  /** The number of inputs; an order book is one input of many rows. */
  readonly events: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly firstAt: Millis;
  readonly lastAt: Millis;
  /** The compression of the file; undefined for a plain Arrow stream. */
  readonly compressed?: Compression | undefined;
}

/** The layout of a compressed segment: consecutive zstd frames. */
interface Compression {
  /** The length of the Arrow stream in it. */
  readonly rawBytes: number;
  /** The length of the segment before compression, where its batches were merged: the same rows in another stream. */
  readonly unmergedBytes?: number | undefined;
  /** The hash of the Arrow stream, hex, where it was once a file: it identifies the same segment before compression. */
  readonly rawSha256?: string | undefined;
  /**
   * The lengths of the frames in bytes. A decompressor that gets two frames at once silently returns the first only.
   */
  readonly frames: readonly number[];
}

/** A line of the digest file: a digest with the feeds first met since the previous line of the file. */
export interface DigestLine extends SegmentDigest {
  readonly newFeeds: readonly string[];
}

/** Returns the name of a segment with its contents, so that a message says what is missing. */
export function describeSegment({ file, rows, firstAt, lastAt }: SegmentDigest): string {
  return rows === 0 ? file : `${file} (${rows} rows of ${iso(firstAt)} to ${iso(lastAt)})`;
}

const count = z.number().int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A digest on disk. */
export const digestJson = z.object({
  file: z.string().regex(/^[a-z-]+\/[0-9TZ.-]+\.arrows(?:\.zst)?$/),
  bytes: count,
  sha256,
  rows: count,
  events: count,
  first_seq: count,
  last_seq: count,
  first_at: z.number().int(),
  last_at: z.number().int(),
  compressed: z.object({
    raw_bytes: count, unmerged_bytes: count.optional(), raw_sha256: sha256.optional(), frames: z.array(count),
  }).optional(),
}).refine(({ file, compressed }) => file.endsWith('.zst') === (compressed !== undefined), {
  error: 'expected the frames of a compressed file, and of no other',
});

const lineJson = digestJson.safeExtend({ new_feeds: z.array(z.string()) });

/** Returns a digest in its form on disk. */
export function digestToJson(digest: SegmentDigest): z.infer<typeof digestJson> {
  return {
    file: digest.file, bytes: digest.bytes, sha256: digest.sha256, rows: digest.rows, events: digest.events,
    first_seq: digest.firstSeq, last_seq: digest.lastSeq, first_at: digest.firstAt, last_at: digest.lastAt,
    ...(digest.compressed === undefined ? {} : { compressed: compressionToJson(digest.compressed) }),
  };
}

function compressionToJson(
  { rawBytes, unmergedBytes, rawSha256, frames }: Compression,
): NonNullable<z.infer<typeof digestJson>['compressed']> {
  return {
    raw_bytes: rawBytes, ...(unmergedBytes === undefined ? {} : { unmerged_bytes: unmergedBytes }),
    ...(rawSha256 === undefined ? {} : { raw_sha256: rawSha256 }), frames: [...frames],
  };
}

/** Returns a digest from its form on disk. */
export function digestFromJson({ compressed, ...json }: z.infer<typeof digestJson>): SegmentDigest {
  return {
    file: json.file, bytes: json.bytes, sha256: json.sha256, rows: json.rows, events: json.events,
    firstSeq: json.first_seq, lastSeq: json.last_seq, firstAt: json.first_at, lastAt: json.last_at,
    ...(compressed === undefined ? {} : {
      compressed: {
        rawBytes: compressed.raw_bytes, unmergedBytes: compressed.unmerged_bytes, rawSha256: compressed.raw_sha256,
        frames: compressed.frames,
      },
    }),
  };
}

/** Returns a line of the digest file, newline included. It ends with its own CRC-32. */
export function formatDigestLine(line: DigestLine): string {
  const body = stringifyJson({ ...digestToJson(line), new_feeds: line.newFeeds }).slice(0, -1);
  return `${body}${checkSuffix(body)}\n`;
}

/**
 * Returns the complete lines of a digest file. A last line without newline is left out, and `torn` says so. Throws
 * RECORDING_CORRUPT on a complete line that contradicts its CRC-32.
 */
export function parseDigestLines(text: string): { readonly lines: readonly DigestLine[]; readonly torn: boolean } {
  const rows = text.split('\n');
  const torn = rows.pop() !== '';
  return { lines: rows.map((row, index) => parseDigestLine(row, index + 1)), torn };
}

function parseDigestLine(row: string, lineNumber: number): DigestLine {
  const body = row.slice(0, -CHECK_SUFFIX_LENGTH);
  if (row.slice(-CHECK_SUFFIX_LENGTH) !== checkSuffix(body)) {
    throw new GannetError('RECORDING_CORRUPT',
      `digests.ndjson:${lineNumber}: expected a line that ends ${checkSuffix(body)}, found `
        + `...${row.slice(-CHECK_SUFFIX_LENGTH)}; restore the file from a copy`,
      {
        details: { file: 'digests.ndjson', line: lineNumber },
      });
  }
  const parsed = lineJson.safeParse(parseJson(row));
  if (!parsed.success) {
    throw new GannetError(
      'RECORDING_CORRUPT', `digests.ndjson:${lineNumber}: ${z.prettifyError(parsed.error)}`, { cause: parsed.error },
    );
  }
  return { ...digestFromJson(parsed.data), newFeeds: parsed.data.new_feeds };
}

function checkSuffix(body: string): string {
  return `,"crc32":"${crc32(body).toString(16).padStart(8, '0')}"}`;
}

const CHECK_SUFFIX_LENGTH = checkSuffix('').length;

/** Returns a time in ISO 8601, or as a number where it is outside the calendar. */
export function iso(at: Millis): string {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at);
}

/** The totals of rows of a segment. */
export type SegmentFacts = Pick<SegmentDigest, 'rows' | 'events' | 'firstSeq' | 'lastSeq' | 'firstAt' | 'lastAt'>;

/** Returns the totals of rows and the rows after them. */
export function joinFacts(before: SegmentFacts | undefined, next: SegmentFacts): SegmentFacts {
  if (before === undefined) return next;
  return {
    ...next, rows: before.rows + next.rows, events: before.events + next.events, firstSeq: before.firstSeq,
    firstAt: before.firstAt,
  };
}

const COMPRESSED = '.zst';

/** Returns the uncompressed name of a segment: `quote/2026-11-20T19.arrows`. */
export function segmentName(file: string): string {
  return file.endsWith(COMPRESSED) ? file.slice(0, -COMPRESSED.length) : file;
}

/** Returns the name of a segment's compressed file. */
export function compressedName(file: string): string {
  return `${segmentName(file)}${COMPRESSED}`;
}

/** Returns the UTC hour as in file names: "2026-11-20T19". */
export function hourName(at: Millis): string {
  return new Date(at).toISOString().slice(0, 13);
}
