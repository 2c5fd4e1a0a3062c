import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { GannetError } from '../core/errors.ts';
import type { FeedKey } from '../market/event.ts';
import { DIGESTS_FILE, MANIFEST_FILE } from './format.ts';
import type { RecordingManifest } from './manifest.ts';
import { parseManifest } from './manifest.ts';
import type { SegmentDigest } from './segment-digest.ts';
import { parseDigestLines } from './segment-digest.ts';
import { segmentSize, verifySegment } from './segment-reader.ts';

/** What of a recording can be believed. */
export interface VerifiedRecording {
  readonly manifest: RecordingManifest;
  readonly segments: readonly SegmentDigest[];
  readonly feeds: readonly FeedKey[];
}

/**
 * Returns what of a recording can be believed: all of it where it was closed, else each file up to its last digest.
 * Throws RECORDING_NOT_FOUND, RECORDING_VERSION and RECORDING_CORRUPT.
 */
export function verifyRecording(directory: string): VerifiedRecording {
  const manifest = parseManifest(readBytes(directory, MANIFEST_FILE).toString('utf8'));
  const verified = manifest.closed ? verifyClosed(directory, manifest) : verifyTorn(directory, manifest);
  for (const digest of verified.segments) verifySegment(directory, digest);
  return verified;
}

function verifyClosed(directory: string, manifest: RecordingManifest): VerifiedRecording {
  const found = createHash('sha256').update(readBytes(directory, DIGESTS_FILE)).digest('hex');
  if (found !== manifest.digestsSha256) throw corrupt(DIGESTS_FILE, `SHA-256 ${manifest.digestsSha256}`, found);
  for (const { file, bytes } of manifest.files) {
    const size = segmentSize(directory, file);
    if (size !== bytes) throw corrupt(file, `${bytes} bytes`, size === undefined ? 'no such file' : `${size}`);
  }
  return { manifest, segments: manifest.files, feeds: manifest.feeds };
}

/** A file shorter than its last digest lost its end with the machine, or itself: an earlier digest holds then, or none. */
function verifyTorn(directory: string, manifest: RecordingManifest): VerifiedRecording {
  const { lines } = parseDigestLines(readBytes(directory, DIGESTS_FILE).toString('utf8'));
  const byFile = Map.groupBy(lines, ({ file }) => file);
  const feeds = new Set(manifest.feeds);
  const segments: SegmentDigest[] = [];
  for (const [file, own] of byFile) {
    const size = segmentSize(directory, file) ?? 0;
    const whole = own.filter(({ bytes }) => bytes <= size);
    for (const feed of whole.flatMap(({ newFeeds }) => newFeeds)) feeds.add(feed);
    const last = whole.at(-1);
    if (last !== undefined) segments.push(last);
  }
  return { manifest, segments, feeds: [...feeds] };
}

function readBytes(directory: string, file: string): Buffer {
  try {
    return readFileSync(`${directory}/${file}`);
  } catch (cause) {
    if (file !== MANIFEST_FILE) throw corrupt(file, 'a file', 'none that can be read', cause);
    throw new GannetError('RECORDING_NOT_FOUND', `expected a recording at ${directory}, found no ${MANIFEST_FILE} that can be read; give the folder that holds it`, {
      details: { directory }, cause,
    });
  }
}

function corrupt(file: string, expected: string, found: string, cause?: unknown): GannetError {
  return new GannetError('RECORDING_CORRUPT', `${file}: expected ${expected}, found ${found}; restore the file from a copy`, {
    details: { file, expected, found }, cause,
  });
}
