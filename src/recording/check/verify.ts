import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import { DIGESTS_FILE, MANIFEST_FILE } from '../format.ts';
import type { RecordingManifest } from '../manifest.ts';
import { parseManifest } from '../manifest.ts';
import { withoutPruned } from '../pruning.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { describeSegment, parseDigestLines, segmentName } from '../segment/digest.ts';
import { segmentSize, verifySegmentInChunks } from '../segment/segment-file.ts';

/** The verified contents of a recording. */
export interface VerifiedRecording {
  readonly manifest: RecordingManifest;
  readonly segments: readonly SegmentDigest[];
  readonly feeds: readonly FeedKey[];
  /** Rows that are digested and in no file. A closed recording with such rows is refused. */
  readonly lost: readonly LostRows[];
}

/**
 * Returns the verified contents of a recording: all of a closed one, else each file up to its last digest. Throws
 * RECORDING_NOT_FOUND, RECORDING_VERSION and RECORDING_CORRUPT.
 */
export function* verifyRecording(directory: string): ChunkedWork<VerifiedRecording> {
  const listed = listSegments(directory);
  for (const digest of listed.segments) yield* verifyFile(directory, digest, listed.manifest);
  return listed;
}

/** Returns the segments that a recording lists, without reading them. Throws like `verifyRecording`. */
export function listSegments(directory: string): VerifiedRecording {
  const manifest = parseManifest(readBytes(directory, MANIFEST_FILE).toString('utf8'));
  return manifest.closed ? listClosed(directory, manifest) : listTorn(directory, manifest);
}

/**
 * Throws RECORDING_CORRUPT unless every byte of a segment agrees with its digest, and a closed recording has no byte
 * beyond it.
 */
export function* verifyFile(
  directory: string, digest: SegmentDigest, { closed }: RecordingManifest,
): ChunkedWork<void> {
  const size = segmentSize(directory, digest.file);
  if (closed && size !== digest.bytes) {
    const found = size === undefined ? 'no such file' : `${size}`;
    throw new GannetError(
      'RECORDING_CORRUPT',
      `${describeSegment(digest)}: expected ${digest.bytes} bytes, found ${found}; restore the file from a copy`,
      { details: { file: digest.file, expected: `${digest.bytes} bytes`, found } },
    );
  }
  yield* verifySegmentInChunks(directory, digest);
}

function listClosed(directory: string, manifest: RecordingManifest): VerifiedRecording {
  const found = createHash('sha256').update(readBytes(directory, DIGESTS_FILE)).digest('hex');
  if (found !== manifest.digestsSha256) throw corrupt(DIGESTS_FILE, `SHA-256 ${manifest.digestsSha256}`, found);
  return { manifest, segments: withoutPruned(directory, manifest.files), feeds: manifest.feeds, lost: [] };
}

function listTorn(directory: string, manifest: RecordingManifest): VerifiedRecording {
  const { lines, segments, lost } = intactSegments(directory, () =>
    withoutPruned(directory, parseDigestLines(readBytes(directory, DIGESTS_FILE).toString('utf8')).lines));
  const feeds = new Set([...manifest.feeds, ...lines.flatMap(({ newFeeds }) => newFeeds)]);
  return { manifest, segments, feeds: [...feeds], lost };
}

function readBytes(directory: string, file: string): Buffer {
  try {
    return readFileSync(`${directory}/${file}`);
  } catch (cause) {
    if (file !== MANIFEST_FILE) throw corrupt(file, 'a file', 'none that can be read', cause);
    throw new GannetError('RECORDING_NOT_FOUND',
      `expected a recording at ${directory}, found no ${MANIFEST_FILE} that can be read; give the folder that holds it`,
      {
        details: { directory }, cause,
      });
  }
}

function corrupt(file: string, expected: string, found: string, cause?: unknown): GannetError {
  return new GannetError('RECORDING_CORRUPT',
    `${file}: expected ${expected}, found ${found}; restore the file from a copy`, {
      details: { file, expected, found }, cause,
    });
}

/** The lines whose rows are in a file, and the last intact digest of each segment, in the order of their rows. */
interface IntactSegments<T extends SegmentDigest> {
  readonly lines: readonly T[];
  readonly segments: readonly T[];
  /** Rows that were written and are lost, by segment. */
  readonly lost: readonly LostRows[];
}

/** Rows at the end of a segment, or all of one, that were digested and are in no file. */
export interface LostRows {
  /** The file that would hold them. */
  readonly file: string;
  readonly rows: number;
  /** The time of the last row left, else of the first that was written; and of the last that was written. */
  readonly from: Millis;
  readonly until: Millis;
  /** Whether later rows of the same kind exist, so that there is a hole. */
  readonly isHole: boolean;
}

const MAX_READS = 10;

/**
 * Returns the digests whose files are at least as long as digested. A shorter file lost its end, or a file is missing:
 * then an earlier digest of the segment holds, or none. `read` is called again where a file has gone since, because the
 * writer compresses segments while others read.
 */
export function intactSegments<T extends SegmentDigest>(
  directory: string, read: () => readonly T[],
): IntactSegments<T> {
  for (let reads = 1; ; reads++) {
    const digests = read();
    const sizes = new Map([...new Set(digests.map(({ file }) => file))].map((file) =>
      [file, segmentSize(directory, file)]));
    const gone = [...Map.groupBy(digests, ({ file }) => segmentName(file)).values()]
      .some((own) => own.every(({ file }) => sizes.get(file) === undefined));
    if (gone && reads < MAX_READS && isOther(read(), digests)) continue;
    const isWhole = ({ file, bytes }: T): boolean => bytes <= (sizes.get(file) ?? -1);
    const last = new Map(digests.filter(isWhole).map((line) => [segmentName(line.file), line]));
    // Digests of a file that has been compressed since hold for the compressed file, up to its end.
    const isKept = (line: T): boolean => {
      const { rawBytes = -1, unmergedBytes = rawBytes } = last.get(segmentName(line.file))?.compressed ?? {};
      return isWhole(line) || line.bytes <= unmergedBytes;
    };
    return {
      lines: digests.filter(isKept), segments: [...last.values()].sort((a, b) => a.firstSeq - b.firstSeq),
      lost: lostRows(digests, last),
    };
  }
}

/** The writer adds lines, and removes those of compressed files. */
function isOther(now: readonly SegmentDigest[], before: readonly SegmentDigest[]): boolean {
  return now.length !== before.length || now.at(-1)?.sha256 !== before.at(-1)?.sha256;
}

/** The last digest of a segment that was compressed without its lost end says so. */
function lostRows(digests: readonly SegmentDigest[], whole: ReadonlyMap<string, SegmentDigest>): LostRows[] {
  const said = new Map(digests.map((digest) => [segmentName(digest.file), digest]));
  for (const digest of digests)
    if (digest.rows > said.get(segmentName(digest.file))!.rows) said.set(segmentName(digest.file), digest);
  return [...said].flatMap(([name, { file, rows, firstSeq, firstAt, lastAt }]): LostRows[] => {
    const left = whole.get(name);
    if (rows === 0 || left?.rows === rows) return [];
    const isHole = [...whole.values()]
      .some((other) => other.firstSeq > firstSeq && dirname(other.file) === dirname(file));
    return [{ file, rows: rows - (left?.rows ?? 0), from: left?.lastAt ?? firstAt, until: lastAt, isHole }];
  });
}
