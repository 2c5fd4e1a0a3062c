import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Stands in a recording's folder while it is written to, and after its writer died. */
export const WRITER_LOCK_FILE = 'writer.lock';

/** The sole right to change a recording. It ends with the process, however that ends. */
export interface WriterLock {
  release(): void;
}

const SQLITE_BUSY = 5;

/** Databases whose locks are held: one that nobody refers to would be collected, and its lock gone with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock of a recording's folder, one of the operating system through SQLite: the kernel takes it back when its
 * holder dies. Returns undefined where somebody has it. Throws what the disk throws.
 */
export function takeWriterLock(directory: string): WriterLock | undefined {
  const file = `${directory}/${WRITER_LOCK_FILE}`;
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Nothing is ever written into it, so nothing need be kept beside it.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return undefined;
    throw cause;
  }
  held.add(database);
  return {
    release() {
      if (!held.delete(database)) return;
      // Before the lock goes: afterwards it could be another one's.
      rmSync(file, { force: true });
      database.close();
    },
  };
}

/** Returns whether somebody writes to a recording. Nothing is changed by asking. */
export function isBeingWritten(directory: string): boolean {
  const file = `${directory}/${WRITER_LOCK_FILE}`;
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (cause) {
    if (isBusy(cause)) return true;
    throw cause;
  } finally {
    database.close();
  }
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === SQLITE_BUSY;
}
