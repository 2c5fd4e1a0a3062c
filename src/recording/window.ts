import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { ChunkedWork } from '../core/chunked-work.ts';
import { runToEnd } from '../core/chunked-work.ts';
import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { intactSegments } from './check/verify.ts';
import type { BlockSource } from './cursor.ts';
import { RecordingCursor } from './cursor.ts';
import type { RecordingKind } from './format.ts';
import { DIGESTS_FILE, MANIFEST_FILE, MARKET_KINDS } from './format.ts';
import { parseManifest } from './manifest.ts';
import { withoutPruned } from './pruning.ts';
import type { SegmentDigest } from './segment/digest.ts';
import { parseDigestLines, segmentName } from './segment/digest.ts';
import { verifySegment } from './segment/segment-file.ts';
import { readSegment } from './segment/segment-reader.ts';

/**
 * A time span of a recording, read without the rest: the last hour of a recording of months must not need all of it.
 */
export interface RecordingWindow {
  readonly directory: string;
  /** The hash of the segments in the window, hex: the same hash means the same rows. */
  readonly sha256: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Returns a cursor over the segments of the window; the first and the last may extend beyond it. */
  cursor(): RecordingCursor;
}

const TAIL_BYTES = 1 << 20;
/** The longest delay of a flush after its rows. */
const FLUSH_MARGIN_MS = 60_000;

/**
 * Returns the market events of a recording from `from` up to `until`, with every byte verified; undefined without
 * events in that time. Throws RECORDING_NOT_FOUND, RECORDING_VERSION and RECORDING_CORRUPT. Each chunk is a segment.
 */
export function* openWindowInChunks(
  directory: string, { from, until }: { readonly from: Millis; readonly until: Millis },
): ChunkedWork<RecordingWindow | undefined> {
  const manifest = parseManifest(readManifestText(directory));
  const digests = manifest.closed ? withoutPruned(directory, manifest.files) : lastDigests(directory, from);
  const within = digests.filter(({ file, rows, firstAt, lastAt }) =>
    rows > 0 && lastAt >= from && firstAt < until && MARKET_KINDS.some((kind) => isOfKind(file, kind)));
  if (within.length === 0) return undefined;
  for (const digest of within) {
    verifySegment(directory, digest);
    yield;
  }
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
    cursor: () => new RecordingCursor(
      MARKET_KINDS.filter((kind) => within.some(({ file }) => isOfKind(file, kind))).map(blocksOf),
    ),
  };
}

/** Opens a window as `openWindowInChunks` does, without a pause. */
export function openWindow(...given: Parameters<typeof openWindowInChunks>): RecordingWindow | undefined {
  return runToEnd(openWindowInChunks(...given));
}

/** A segment has the same identity before and after compression. */
function identityOf({ file, bytes, sha256, compressed }: SegmentDigest): string {
  return compressed?.rawSha256 === undefined ? `${file} ${bytes} ${sha256}\n`
    : `${segmentName(file)} ${compressed.unmergedBytes ?? compressed.rawBytes} ${compressed.rawSha256}\n`;
}

function isOfKind(file: string, kind: RecordingKind): boolean {
  return file.startsWith(`${kind}/`);
}

/**
 * Returns the last digest of each segment written at `from` or later. Each flush adds a line, so they are read from the
 * end.
 */
function lastDigests(directory: string, from: Millis): readonly SegmentDigest[] {
  return intactSegments(directory, () => withoutPruned(directory, linesSince(directory, from))).segments;
}

function linesSince(directory: string, from: Millis): readonly SegmentDigest[] {
  const descriptor = openSync(`${directory}/${DIGESTS_FILE}`, 'r');
  try {
    const { size } = fstatSync(descriptor);
    for (let bytes = Math.min(TAIL_BYTES, size); ; bytes = Math.min(4 * bytes, size)) {
      const tail = readTail(descriptor, size - bytes);
      // The first line of a part is usually incomplete.
      const { lines } = parseDigestLines(bytes === size ? tail : tail.slice(tail.indexOf('\n') + 1));
      if (bytes === size || reachBack(lines, from)) return lines;
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns whether the lines start before `from`. Only a line with later rows was written at the time of its last row:
 * lines about the end or the compression of a segment may be much later.
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
