import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { GannetError } from '../../core/errors.ts';
import type { FeedKey } from '../../market/event.ts';
import { DIGESTS_FILE, MANIFEST_FILE } from '../format.ts';
import type { RecordingManifest } from '../manifest.ts';
import { parseManifest } from '../manifest.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { describeSegment, parseDigestLines } from '../segment/digest.ts';
import { segmentSize, verifySegmentSteps } from '../segment/segment-file.ts';
import type { Steps } from '../../core/steps.ts';
import type { LostRows } from '../segment/whole-segments.ts';
import { wholeSegments } from '../segment/whole-segments.ts';

/** What of a recording can be believed. */
export interface VerifiedRecording {
  readonly manifest: RecordingManifest;
  readonly segments: readonly SegmentDigest[];
  readonly feeds: readonly FeedKey[];
  /** What digests speak of and no file holds: of a closed recording nothing, for it would be refused. */
  readonly lost: readonly LostRows[];
}

/**
 * Returns what of a recording can be believed: all of it where it was closed, else each file up to its last digest.
 * Throws RECORDING_NOT_FOUND, RECORDING_VERSION and RECORDING_CORRUPT.
 */
export function* verifyRecordingSteps(directory: string): Steps<VerifiedRecording> {
  const listed = listSegments(directory);
  for (const digest of listed.segments) yield* verifyFileSteps(directory, digest, listed.manifest);
  return listed;
}

/** Returns what a recording says of its segments, none of which is looked into. Throws like `verifyRecordingSteps`. */
export function listSegments(directory: string): VerifiedRecording {
  const manifest = parseManifest(readBytes(directory, MANIFEST_FILE).toString('utf8'));
  return manifest.closed ? listClosed(directory, manifest) : listTorn(directory, manifest);
}

/**
 * Throws RECORDING_CORRUPT unless every byte of a segment is as it was digested, and in a closed recording no byte is
 * beyond.
 */
export function* verifyFileSteps(directory: string, digest: SegmentDigest, { closed }: RecordingManifest): Steps<void> {
  const size = segmentSize(directory, digest.file);
  if (closed && size !== digest.bytes) {
    const found = size === undefined ? 'no such file' : `${size}`;
    throw new GannetError(
      'RECORDING_CORRUPT',
      `${describeSegment(digest)}: expected ${digest.bytes} bytes, found ${found}; restore the file from a copy`,
      { details: { file: digest.file, expected: `${digest.bytes} bytes`, found } },
    );
  }
  yield* verifySegmentSteps(directory, digest);
}

function listClosed(directory: string, manifest: RecordingManifest): VerifiedRecording {
  const found = createHash('sha256').update(readBytes(directory, DIGESTS_FILE)).digest('hex');
  if (found !== manifest.digestsSha256) throw corrupt(DIGESTS_FILE, `SHA-256 ${manifest.digestsSha256}`, found);
  return { manifest, segments: manifest.files, feeds: manifest.feeds, lost: [] };
}

function listTorn(directory: string, manifest: RecordingManifest): VerifiedRecording {
  const { lines, segments, lost } = wholeSegments(directory, () =>
    parseDigestLines(readBytes(directory, DIGESTS_FILE).toString('utf8')).lines);
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
