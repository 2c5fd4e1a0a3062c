import type { FileLock } from './file-lock.ts';
import { isFileLocked, takeFileLock } from './file-lock.ts';

/** Stands in a recording's folder while it is written to, and after its writer died. */
export const WRITER_LOCK_FILE = 'writer.lock';

/** Takes the sole right to change a recording. Returns undefined where somebody has it. Throws what the disk throws. */
export function takeWriterLock(directory: string): FileLock | undefined {
  return takeFileLock(`${directory}/${WRITER_LOCK_FILE}`);
}

/** Returns whether somebody writes to a recording. Nothing is changed by asking. */
export function isBeingWritten(directory: string): boolean {
  return isFileLocked(`${directory}/${WRITER_LOCK_FILE}`);
}
