import { RecordBatchReader } from 'apache-arrow';
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { BatchColumns } from './batch-columns.ts';
import type { Block } from './block.ts';
import { BLOCK_READERS } from './event-blocks.ts';
import type { RecordingKind } from './format.ts';
import type { SegmentDigest } from './segment-digest.ts';

const CHUNK_BYTES = 1 << 20;

/** Yields the blocks in the digested part of a segment, reading it as it goes. Throws RECORDING_CORRUPT. */
export function* readSegment(directory: string, kind: RecordingKind, digest: SegmentDigest): Generator<Block> {
  if (digest.rows === 0) return;
  const columns = new BatchColumns(digest.file);
  try {
    for (const batch of RecordBatchReader.from(readChunks(directory, digest, ownMemory))) {
      columns.open(batch);
      yield BLOCK_READERS[kind](columns);
    }
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw new GannetError('RECORDING_CORRUPT', `${digest.file}: expected an Arrow stream, found none: ${messageOf(cause)}; restore the file from a copy`, {
      details: { file: digest.file }, cause,
    });
  }
}

/** Throws RECORDING_CORRUPT unless the file begins with exactly the bytes that were digested. */
export function verifySegment(directory: string, digest: SegmentDigest): void {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, digest.bytes));
  for (const chunk of readChunks(directory, digest, (bytes) => buffer.subarray(0, bytes))) hash.update(chunk);
  const found = hash.digest('hex');
  if (found === digest.sha256) return;
  throw new GannetError('RECORDING_CORRUPT', `${digest.file}: expected SHA-256 ${digest.sha256} of its first ${digest.bytes} bytes, found ${found}; restore the file from a copy`, {
    details: { file: digest.file, expected: digest.sha256, found },
  });
}

/** Returns a segment's size in bytes; undefined where there is no such file. */
export function segmentSize(directory: string, file: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(`${directory}/${file}`, 'r');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
  try {
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
}

/** Blocks are views of their chunk and outlive the reading, so each chunk has memory of its own. */
function ownMemory(bytes: number): Uint8Array {
  return Buffer.allocUnsafeSlow(bytes);
}

/** The file is open for one chunk at a time: a cursor that is left where it stands holds nothing. */
function* readChunks(directory: string, { file, bytes }: SegmentDigest, memory: (bytes: number) => Uint8Array): Generator<Uint8Array> {
  for (let done = 0; done < bytes;) {
    const chunk = memory(Math.min(CHUNK_BYTES, bytes - done));
    const descriptor = openSync(`${directory}/${file}`, 'r');
    try {
      fill(descriptor, chunk, { file, position: done });
    } finally {
      closeSync(descriptor);
    }
    done += chunk.length;
    yield chunk;
  }
}

function fill(descriptor: number, chunk: Uint8Array, place: { readonly file: string; readonly position: number }): void {
  for (let filled = 0; filled < chunk.length;) {
    const count = readSync(descriptor, chunk, filled, chunk.length - filled, place.position + filled);
    if (count === 0) {
      throw new GannetError('RECORDING_CORRUPT', `${place.file}: expected more bytes, found its end at ${place.position + filled}; restore the file from a copy`, {
        details: { file: place.file, found: place.position + filled },
      });
    }
    filled += count;
  }
}
