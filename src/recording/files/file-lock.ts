import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { GannetError } from '../../core/errors.ts';

/** A sole right. It ends with the process, however that ends. */
export interface FileLock {
  release(): void;
}

const SQLITE_BUSY = 5;
/** That the system took no lock, whatever it said for a reason. */
const SQLITE_IOERR_LOCK = 3_850;

/** Databases whose locks are held: one that nobody refers to would be collected, and its lock gone with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock that a file stands for, one of the operating system through SQLite: the kernel takes it back when its
 * holder dies. The file is made where it is missing, and goes with the lock. Returns undefined where somebody has it.
 * Throws FEATURE_UNAVAILABLE where the file's disk has no locks, and what the disk throws.
 */
export function takeFileLock(file: string): FileLock | undefined {
  for (;;) {
    makeFile(file);
    const database = new DatabaseSync(file, { timeout: 0 });
    const opened = statSync(file, { throwIfNoEntry: false })?.ino;
    try {
      // Nothing is ever written into it, so nothing need be kept beside it.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    } catch (cause) {
      database.close();
      if (isBusy(cause)) return undefined;
      throw isWithoutLocks(cause) ? new GannetError(
        'FEATURE_UNAVAILABLE',
        `${file} cannot be locked: its filesystem takes no file locks, as some network shares; use a folder on a local `
          + 'disk',
        { cause },
      ) : cause;
    }
    // Who had it may have taken the file away between the opening and the lock: then it is the lock of no file.
    if (opened !== undefined && statSync(file, { throwIfNoEntry: false })?.ino === opened)
      return heldLock(file, database);
    database.close();
  }
}

/**
 * SQLite would say no more than that it cannot open it, and a daemon has to know a disk that is full. One that is there
 * is not opened: closing it again would give up a lock that this process has on it.
 */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
  }
}

/** Returns whether somebody has the lock that a file stands for. Nothing is changed by asking. */
export function isFileLocked(file: string): boolean {
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

function heldLock(file: string, database: DatabaseSync): FileLock {
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

function isBusy(cause: unknown): boolean {
  return (errorCodeOf(cause) & 0xff) === SQLITE_BUSY;
}

function isWithoutLocks(cause: unknown): boolean {
  return errorCodeOf(cause) === SQLITE_IOERR_LOCK;
}

function errorCodeOf(cause: unknown): number {
  return cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : 0;
}
