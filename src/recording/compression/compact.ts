import { closeSync, fdatasync, ftruncateSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { GannetError } from '../../core/errors.ts';
import type { FileLock } from '../../core/file-lock.ts';
import type { VerifiedRecording } from '../check/verify.ts';
import { listSegments } from '../check/verify.ts';
import { appendCompletely, writeFault } from '../files/durable-write.ts';
import { DIGESTS_FILE } from '../format.ts';
import { isBeingWritten, takeWriterLock } from '../recording-files.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { compressedName, formatDigestLine, segmentName } from '../segment/digest.ts';
import { SegmentCompressor } from './segment-compressor.ts';

/** The result of a compaction. */
interface Compaction {
  /** The number of compressed segments. */
  readonly segments: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** The number of segments left uncompressed by an interrupt. */
  readonly left: number;
}

/**
 * Compresses the segments that a dead writer left uncompressed, like the writer itself, and removes its unfinished
 * files. The recording remains unclosed, with the same rows and the same identity. A closed recording is not changed.
 * After an interrupt, unfinished segments remain as they were. Rejects with STATE_LOCKED while it is being written, and
 * with RECORDING_CORRUPT, RECORDING_NOT_FOUND, RECORDING_VERSION and RECORDING_WRITE_FAILED.
 */
export async function compactRecording(directory: string, interrupt?: AbortSignal): Promise<Compaction> {
  if (listSegments(directory).manifest.closed) return { segments: 0, bytesBefore: 0, bytesAfter: 0, left: 0 };
  const lock = lockOf(directory);
  try {
    const listed = listSegments(directory);
    const open = openSegments(listed);
    const done = await compressAll(directory, { open, interrupt });
    removeLeftovers(directory, listed.segments);
    const isDone = ({ file }: SegmentDigest): boolean => done.some((digest) => digest.file === compressedName(file));
    return {
      segments: done.length, bytesBefore: bytesOf(open.filter(isDone)), bytesAfter: bytesOf(done),
      left: open.length - done.length,
    };
  } catch (cause) {
    throw writeFault(directory, cause);
  } finally {
    lock.release();
  }
}

function bytesOf(digests: readonly SegmentDigest[]): number {
  return digests.reduce((total, { bytes }) => total + bytes, 0);
}

function lockOf(directory: string): FileLock {
  let lock: FileLock | undefined;
  try {
    lock = takeWriterLock(directory);
  } catch (cause) {
    throw writeFault(directory, cause);
  }
  if (lock === undefined) throw new GannetError(
    'STATE_LOCKED',
    `the recording ${directory} is being written: its writer compresses it; try again when that one has ended`,
    { details: { directory } },
  );
  return lock;
}

async function compressAll(directory: string, { open, interrupt }: {
  readonly open: readonly SegmentDigest[]; readonly interrupt: AbortSignal | undefined;
}): Promise<readonly SegmentDigest[]> {
  if (open.length === 0) return [];
  const done: SegmentDigest[] = [];
  const damage: Error[] = [];
  const digests = appendableDigests(directory);
  try {
    const compressor = new SegmentCompressor(directory, {
      onCompressed: async (compressed) => {
        appendCompletely(digests, compressed.map((digest) => formatDigestLine({ ...digest, newFeeds: [] })).join(''));
        await syncData(digests);
        done.push(...compressed);
      },
      onDamage: (cause) => { damage.push(cause); },
    });
    const stop = (): void => { compressor.cut(); };
    interrupt?.addEventListener('abort', stop, { once: true });
    if (interrupt?.aborted === true) stop();
    compressor.add(open);
    await compressor.idle();
    interrupt?.removeEventListener('abort', stop);
    if (damage[0] !== undefined) throw damage[0];
    if (compressor.left > 0) throw new GannetError(
      'RECORDING_WRITE_FAILED',
      `${compressor.left} segments of ${directory} could not be compressed; free space and try again`,
      { details: { directory } },
    );
    return done;
  } finally {
    closeSync(digests);
  }
}

/** The dead writer may have left half a line at the end, to which nothing may be appended. */
function appendableDigests(directory: string): number {
  const path = `${directory}/${DIGESTS_FILE}`;
  const wholeLines = readFileSync(path).lastIndexOf('\n') + 1;
  const descriptor = openSync(path, 'a');
  ftruncateSync(descriptor, wholeLines);
  return descriptor;
}

/** Removes the files that a writer or an earlier compaction left when it died between two operations. */
function removeLeftovers(directory: string, segments: readonly SegmentDigest[]): void {
  rmSync(`${directory}/${DIGESTS_FILE}.new`, { force: true });
  for (const { file } of segments) {
    rmSync(`${directory}/${compressedName(file)}.new`, { force: true });
    if (segments.some((other) => other.file === compressedName(file)))
      rmSync(`${directory}/${segmentName(file)}`, { force: true });
  }
}

const syncData = promisify(fdatasync);

/** Returns the uncompressed segments. Format 1 has no compression, so none of its segments count. */
function openSegments(
  { manifest, segments }: Pick<VerifiedRecording, 'manifest' | 'segments'>,
): readonly SegmentDigest[] {
  return manifest.formatVersion === 1 ? [] : segments.filter(({ compressed }) => compressed === undefined);
}

/**
 * Returns the uncompressed segments that are complete: a killed writer left them, or the disk had no room for the
 * compressed file.
 */
export function uncompressedSegments(
  directory: string, listed: Pick<VerifiedRecording, 'manifest' | 'segments'>,
): readonly SegmentDigest[] {
  const open = openSegments(listed);
  if (open.length === 0 || listed.manifest.closed || !isBeingWritten(directory)) return open;
  return open.filter(({ file, firstSeq }) =>
    listed.segments.some((other) => other.firstSeq > firstSeq && dirname(other.file) === dirname(file)));
}
