import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs';
import { AssertionError } from '../../core/assert.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';

/**
 * Appends a text to an open file completely or not at all: a disk may take a part of a line before it is full, and the
 * next line would continue it. Throws the fault of the system.
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
 * Replaces a file of a folder atomically: at every instant the old or the new content is there. Throws the fault of the
 * disk.
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

/** Syncs the names in a folder to the disk. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Returns a fault of the disk as RECORDING_WRITE_FAILED. Rethrows errors that are bugs. */
export function writeFault(directory: string, cause: unknown): GannetError {
  if (isGannetError(cause)) return cause;
  if (cause instanceof AssertionError || cause instanceof TypeError || cause instanceof RangeError) throw cause;
  return new GannetError('RECORDING_WRITE_FAILED',
    `cannot write the recording ${directory}: ${messageOf(cause)}; free space or give another folder`, {
      details: { directory },
      cause,
    });
}
