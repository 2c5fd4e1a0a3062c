import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import type { BlockSource } from './cursor.ts';
import { RecordingCursor } from './cursor.ts';
import { DIGESTS_FILE, MANIFEST_FILE } from './format.ts';
import type { RecordingKind } from './format.ts';
import { parseManifest } from './manifest.ts';
import type { SegmentDigest } from './segment/digest.ts';
import { parseDigestLines, segmentName } from './segment/digest.ts';
import { verifySegment } from './segment/segment-file.ts';
import { readSegment } from './segment/segment-reader.ts';
import { intactSegments } from './check/verify.ts';

/**
 * A part of a recording's time, read without the rest of it: a recording of months must not be gone through for its
 * last hour.
 */
export interface RecordingWindow {
  readonly directory: string;
  /** Of the segments that reach into the window, hex: the same hash, the same rows. */
  readonly sha256: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Returns a cursor over the segments that reach into the window; the first and the last ones may reach beyond it. */
  cursor(): RecordingCursor;
}

/** What was seen of the market. */
export const MARKET_KINDS = ['quote', 'order-book', 'token-stats'] as const satisfies readonly RecordingKind[];
const TAIL_BYTES = 1 << 20;
/** A flush may come so much later than the rows it writes. */
const FLUSH_MARGIN_MS = 60_000;

/**
 * Returns the market's part of a recording from `from` up to `until`, every byte of it verified; undefined where it
 * holds nothing of then. Throws RECORDING_NOT_FOUND, RECORDING_VERSION and RECORDING_CORRUPT.
 */
export function openWindow(
  directory: string, { from, until }: { readonly from: Millis; readonly until: Millis },
): RecordingWindow | undefined {
  const manifest = parseManifest(readManifestText(directory));
  const digests = manifest.closed ? manifest.files : lastDigests(directory, from);
  const within = digests.filter(({ file, rows, firstAt, lastAt }) =>
    rows > 0 && lastAt >= from && firstAt < until && MARKET_KINDS.some((kind) => isOfKind(file, kind)));
  if (within.length === 0) return undefined;
  for (const digest of within) verifySegment(directory, digest);
  const blocksOf = (kind: RecordingKind): BlockSource => ({
    *[Symbol.iterator]() {
      for (const digest of within) if (isOfKind(digest.file, kind)) yield* readSegment(directory, kind, digest);
    },
  });
  return {
    directory,
    sha256: createHash('sha256').update(within.map(identityOf).join('')).digest('hex'),
    firstSeq: Math.min(...within.map(({ firstSeq }) => firstSeq)),
    lastSeq: Math.max(...within.map(({ lastSeq }) => lastSeq)),
    cursor: () => new RecordingCursor(MARKET_KINDS.map(blocksOf)),
  };
}

/** A segment that was seen before it was compressed is the same one afterwards. */
function identityOf({ file, bytes, sha256, compressed }: SegmentDigest): string {
  return compressed?.rawSha256 === undefined ? `${file} ${bytes} ${sha256}\n`
    : `${segmentName(file)} ${compressed.rawBytes} ${compressed.rawSha256}\n`;
}

function isOfKind(file: string, kind: RecordingKind): boolean {
  return file.startsWith(`${kind}/`);
}

/**
 * Returns the last digest of each segment that was written to at `from` or after: a line for every flush, so they are
 * read from the end.
 */
function lastDigests(directory: string, from: Millis): readonly SegmentDigest[] {
  return intactSegments(directory, () => linesSince(directory, from)).segments;
}

function linesSince(directory: string, from: Millis): readonly SegmentDigest[] {
  const descriptor = openSync(`${directory}/${DIGESTS_FILE}`, 'r');
  try {
    const { size } = fstatSync(descriptor);
    for (let bytes = Math.min(TAIL_BYTES, size); ; bytes = Math.min(4 * bytes, size)) {
      const tail = readTail(descriptor, size - bytes);
      // The first line of a part is mostly half a line.
      const { lines } = parseDigestLines(bytes === size ? tail : tail.slice(tail.indexOf('\n') + 1));
      if (bytes === size || reachBack(lines, from)) return lines;
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns whether lines begin before `from`. Only a line that rows came after was written when its last row was: what
 * ends or compresses a segment may be said long after it.
 */
function reachBack(lines: readonly SegmentDigest[], from: Millis): boolean {
  const rows = new Map(lines.map((line) => [segmentName(line.file), line.rows]));
  return lines.some((line) => line.lastAt < from - FLUSH_MARGIN_MS && rows.get(segmentName(line.file))! > line.rows);
}

function readTail(descriptor: number, position: number): string {
  const { size } = fstatSync(descriptor);
  const bytes = Buffer.alloc(size - position);
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(descriptor, bytes, filled, bytes.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.toString('utf8', 0, filled);
}

function readManifestText(directory: string): string {
  try {
    return readFileSync(`${directory}/${MANIFEST_FILE}`, 'utf8');
  } catch (cause) {
    throw new GannetError(
      'RECORDING_NOT_FOUND', `expected a recording at ${directory}, found no ${MANIFEST_FILE} that can be read`,
      { details: { directory }, cause },
    );
  }
}
