import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs';
import { AssertionError } from '../../core/assert.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';

/**
 * Appends all of it to a file that is open for that or nothing: a disk takes a part of a line before it is full, and
 * the next one would go on in it. Throws what the system says.
 */
export function appendCompletely(file: number, text: string | Uint8Array): void {
  const { size } = fstatSync(file);
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

/** Writes all of `bytes`; one call may write less than it was given. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(descriptor, bytes, done, bytes.length - done);
}

/**
 * Writes a file of a folder anew: the old one or the new one is there at every instant, never a part. Throws what the
 * disk throws.
 */
export function replaceFile(directory: string, file: string, text: string): void {
  const target = `${directory}/${file}`;
  const descriptor = openSync(`${target}.new`, 'w', 0o600);
  try {
    writeAll(descriptor, Buffer.from(text));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${target}.new`, target);
  syncFolder(directory);
}

/** Puts the names in a folder on the disk itself. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Returns a fault of the disk as RECORDING_WRITE_FAILED. Rethrows a bug: it is not the disk's. */
export function writeFault(directory: string, cause: unknown): GannetError {
  if (isGannetError(cause)) return cause;
  if (cause instanceof AssertionError || cause instanceof TypeError || cause instanceof RangeError) throw cause;
  return new GannetError('RECORDING_WRITE_FAILED',
    `cannot write the recording ${directory}: ${messageOf(cause)}; free space or give another folder`, {
      details: { directory },
      cause,
    });
}
