import { dirname } from 'node:path';
import type { SegmentDigest } from '../segment/digest.ts';
import type { VerifiedRecording } from '../check/verify.ts';
import { isBeingWritten } from '../files/writer-lock.ts';

/**
 * Returns the segments that are still as they were appended to. Those of the first format always are: it compressed
 * none.
 */
export function openSegments(
  { manifest, segments }: Pick<VerifiedRecording, 'manifest' | 'segments'>,
): readonly SegmentDigest[] {
  return manifest.formatVersion === 1 ? [] : segments.filter(({ compressed }) => compressed === undefined);
}

/**
 * Returns those of them that nobody appends to any more: a killed writer left them, or the disk had no place for the
 * other file.
 */
export function uncompressedSegments(
  directory: string, listed: Pick<VerifiedRecording, 'manifest' | 'segments'>,
): readonly SegmentDigest[] {
  const open = openSegments(listed);
  if (open.length === 0 || listed.manifest.closed || !isBeingWritten(directory)) return open;
  return open.filter(({ file, firstSeq }) =>
    listed.segments.some((other) => other.firstSeq > firstSeq && dirname(other.file) === dirname(file)));
}
