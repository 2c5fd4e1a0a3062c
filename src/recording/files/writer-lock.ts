import { rmSync } from 'node:fs';
import { isGannetError } from '../../core/errors.ts';
import type { FileLock } from './file-lock.ts';
import { isFileLocked, takeFileLock } from './file-lock.ts';

/** Stands in a recording's folder while it is written to, and after its writer died. */
export const WRITER_LOCK_FILE = 'writer.lock';

/** Takes the sole right to change a recording. Returns undefined where somebody has it. Throws what the disk throws. */
export function takeWriterLock(directory: string): FileLock | undefined {
  return takeFileLock(`${directory}/${WRITER_LOCK_FILE}`);
}

/**
 * Takes the sole right to change a recording whose folder was made just now: nobody else has it. Where the disk has no
 * locks, none is held and no file speaks of one; nobody else gets one there either, so nothing is compressed that is
 * being written.
 */
export function lockNewRecording(directory: string): FileLock | undefined {
  try {
    return takeWriterLock(directory);
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'FEATURE_UNAVAILABLE') throw error;
    rmSync(`${directory}/${WRITER_LOCK_FILE}`, { force: true });
    return undefined;
  }
}

/** Returns whether somebody writes to a recording. Nothing is changed by asking. */
export function isBeingWritten(directory: string): boolean {
  return isFileLocked(`${directory}/${WRITER_LOCK_FILE}`);
}
