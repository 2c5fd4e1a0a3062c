import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { runToEnd } from '../../core/chunked-work.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { DIGESTS_FILE } from '../format.ts';
import type { SegmentDigest } from './digest.ts';
import { compressedName, describeSegment, parseDigestLines } from './digest.ts';

/** The bytes of an Arrow stream in one frame of a compressed segment; the last frame holds the rest. */
export const FRAME_BYTES = 1 << 20;
/** The largest segment whose batches are merged when it is compressed; larger ones have large batches already. */
export const MERGED_BYTES_MAX = 8 * FRAME_BYTES;
/** The least chunk size of zlib. */
const LEAST_CHUNK = 64;

/** Throws RECORDING_CORRUPT unless the file starts with the digested bytes, and ends there if it is compressed. */
export function verifySegment(directory: string, digest: SegmentDigest): void {
  runToEnd(verifySegmentInChunks(directory, digest));
}

/** Does the same in chunks of a MiB. */
export function* verifySegmentInChunks(directory: string, digest: SegmentDigest): ChunkedWork<void> {
  const found = yield* hashOfFile(directory, digest);
  if (found !== digest.sha256) throw otherHash(digest, found);
  const { file, bytes, compressed } = digest;
  if (compressed === undefined) return;
  const frames = compressed.frames.reduce((sum, length) => sum + length, 0);
  const size = segmentSize(directory, file);
  if (frames === bytes && size === bytes) return;
  throw spoilt(digest, `expected ${bytes} bytes in frames, found ${frames} in a file of ${size ?? 0}`);
}

/**
 * Yields the digested part of a segment's Arrow stream, each chunk in memory of its own. Where the writer has
 * compressed and merged the segment meanwhile, calls `onMerged` and yields all of it. Throws RECORDING_CORRUPT.
 */
export function* streamChunks(
  directory: string, digest: SegmentDigest, onMerged?: () => void,
): Generator<Uint8Array> {
  if (digest.compressed !== undefined) {
    yield* unpacked(directory, digest, digest.compressed);
    return;
  }
  let done = 0;
  try {
    const chunks = fileChunks(directory, lengthsOf(digest.bytes), digest.file, (bytes) =>
      Buffer.allocUnsafeSlow(bytes));
    // Merged batches cannot be read on from the middle.
    for (const chunk of digest.bytes <= MERGED_BYTES_MAX ? [...chunks] : chunks) {
      done += chunk.length;
      yield chunk;
    }
  } catch (cause) {
    const moved = isGone(cause) ? compressedSince(directory, digest) : undefined;
    if (moved === undefined) throw cause;
    if (moved.compressed?.unmergedBytes !== undefined) {
      onMerged?.();
      yield* unpacked(directory, moved, moved.compressed);
      return;
    }
    yield* between(unpacked(directory, moved, moved.compressed!), { from: done, until: digest.bytes });
  }
}

/** Returns a segment's size in bytes; undefined where there is no such file. */
export function segmentSize(directory: string, file: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(`${directory}/${file}`, 'r');
  } catch (cause) {
    if (isGone(cause)) return undefined;
    throw cause;
  }
  try {
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
}

function* hashOfFile(directory: string, digest: SegmentDigest): ChunkedWork<string> {
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafeSlow(Math.min(FRAME_BYTES, digest.bytes));
    for (const chunk of fileChunks(directory, lengthsOf(digest.bytes), digest.file, (bytes) =>
        buffer.subarray(0, bytes))) {
      hash.update(chunk);
      yield;
    }
    return hash.digest('hex');
  } catch (cause) {
    const moved = isGone(cause) ? compressedSince(directory, digest) : undefined;
    if (moved === undefined) throw isGone(cause) ? spoilt(digest, 'expected a file, found none', cause) : cause;
    // The compressed file was verified to hold these bytes.
    return digest.sha256;
  }
}

/**
 * Returns the digest of the file into which the writer has compressed a segment meanwhile, with every byte verified;
 * undefined where it has not. Throws RECORDING_CORRUPT where it holds something else.
 */
function compressedSince(directory: string, digest: SegmentDigest): SegmentDigest | undefined {
  const { lines } = parseDigestLines(readFileSync(`${directory}/${DIGESTS_FILE}`, 'utf8'));
  const moved = lines.findLast(({ file }) => file === compressedName(digest.file) && file !== digest.file);
  if (moved?.compressed === undefined || segmentSize(directory, moved.file) !== moved.bytes) return undefined;
  verifySegment(directory, moved);
  const { unmergedBytes, rawSha256 } = moved.compressed;
  if (unmergedBytes !== undefined) {
    // The writer compared each row. The hash of a part of the segment cannot be repeated, that of all of it is kept.
    if (digest.bytes < unmergedBytes || digest.sha256 === rawSha256) return moved;
    throw otherHash({ ...digest, file: moved.file }, rawSha256 ?? 'none');
  }
  const hash = createHash('sha256');
  for (const chunk of between(unpacked(directory, moved, moved.compressed), { from: 0, until: digest.bytes }))
    hash.update(chunk);
  const found = hash.digest('hex');
  if (found !== digest.sha256) throw otherHash({ ...digest, file: moved.file }, found);
  return moved;
}

function* between(
  chunks: Iterable<Uint8Array>, { from, until }: { readonly from: number; readonly until: number },
): Generator<Uint8Array> {
  let position = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(Math.max(0, from - position), Math.max(0, until - position));
    position += chunk.length;
    if (part.length > 0) yield part;
  }
}

function* unpacked(
  directory: string, { file }: SegmentDigest, { frames, rawBytes }: NonNullable<SegmentDigest['compressed']>,
): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(0, ...frames));
  let done = 0;
  for (const frame of fileChunks(directory, frames, file, (bytes) => buffer.subarray(0, bytes))) {
    const expected = Math.min(FRAME_BYTES, rawBytes - done);
    const chunk = unpack(file, frame, expected);
    if (chunk.length !== expected) throw corrupt(file, `expected a frame of ${expected} bytes, found ${chunk.length}`);
    done += chunk.length;
    yield chunk;
  }
  if (done !== rawBytes) throw corrupt(file, `expected ${rawBytes} bytes in its frames, found ${done}`);
}

/**
 * Returns the contents of a frame. Without the expected size the decompressor returns small pieces, or keeps unused
 * memory.
 */
export function unpack(file: string, frame: Uint8Array, expectedBytes: number): Buffer {
  try {
    return zstdDecompressSync(frame, { chunkSize: Math.max(LEAST_CHUNK, expectedBytes), maxOutputLength: FRAME_BYTES });
  } catch (cause) {
    throw corrupt(
      file, `expected a zstd frame of at most ${FRAME_BYTES} bytes, found none: ${messageOf(cause)}`, cause,
    );
  }
}

function lengthsOf(bytes: number): number[] {
  return Array.from({ length: Math.ceil(bytes / FRAME_BYTES) }, (_, index) =>
    Math.min(FRAME_BYTES, bytes - index * FRAME_BYTES));
}

/** The file is open for one chunk at a time, so that an abandoned cursor holds no descriptor. */
function* fileChunks(
  directory: string, lengths: readonly number[], file: string, memory: (bytes: number) => Uint8Array,
): Generator<Uint8Array> {
  let position = 0;
  for (const length of lengths) {
    const chunk = memory(length);
    const descriptor = openSync(`${directory}/${file}`, 'r');
    try {
      fill(descriptor, chunk, { file, position });
    } finally {
      closeSync(descriptor);
    }
    position += length;
    yield chunk;
  }
}

function fill(
  descriptor: number, chunk: Uint8Array, place: { readonly file: string; readonly position: number },
): void {
  for (let filled = 0; filled < chunk.length;) {
    const count = readSync(descriptor, chunk, filled, chunk.length - filled, place.position + filled);
    if (count === 0) throw corrupt(place.file, `expected more bytes, found its end at ${place.position + filled}`);
    filled += count;
  }
}

function otherHash(digest: SegmentDigest, found: string): GannetError {
  const { file, bytes, sha256 } = digest;
  return new GannetError('RECORDING_CORRUPT',
    `${describeSegment(digest)}: expected SHA-256 ${sha256} of its first ${bytes} bytes, found ${found}; restore the `
      + 'file from a copy',
    {
      details: { file, expected: sha256, found },
    });
}

function spoilt(digest: SegmentDigest, problem: string, cause?: unknown): GannetError {
  return new GannetError('RECORDING_CORRUPT', `${describeSegment(digest)}: ${problem}; restore the file from a copy`, {
    details: { file: digest.file }, cause,
  });
}

function corrupt(file: string, problem: string, cause?: unknown): GannetError {
  return new GannetError(
    'RECORDING_CORRUPT', `${file}: ${problem}; restore the file from a copy`, { details: { file }, cause },
  );
}

function isGone(cause: unknown): boolean {
  return !isGannetError(cause) && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}
