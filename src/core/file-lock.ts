import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as sqlite from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import { GannetError } from './errors.ts';

/** The sole right to a file. It ends with the process, however that ends. */
export interface FileLock {
  release(): void;
}

const SQLITE_BUSY = 5;
/** SQLite's code for a filesystem that refused the lock itself. */
const SQLITE_IOERR_LOCK = 3_850;

/** Loaded only where a lock is needed: a boxed process has no SQLite. */
const requireNow = createRequire(import.meta.url);

function openDatabase(file: string, options: { readonly readOnly?: boolean; readonly timeout: number }): DatabaseSync {
  const { DatabaseSync: Database } = requireNow('node:sqlite') as typeof sqlite;
  return new Database(file, options);
}

/** Databases whose locks are held. Without this reference one would be collected, and its lock lost with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock of the operating system on a file, through SQLite: the kernel takes it back when the holder dies. The
 * file is created where it is missing, and stays. Returns undefined where another holder has the lock. Throws
 * FEATURE_UNAVAILABLE where the filesystem takes no locks, and otherwise the fault of the disk.
 */
export function takeLastingFileLock(file: string): FileLock | undefined {
  const database = lockedDatabase(file);
  return database === undefined ? undefined : hold(database);
}

/** Takes the same lock on a file that is removed with it. */
export function takeFileLock(file: string): FileLock | undefined {
  for (;;) {
    createFile(file);
    const inode = inodeOf(file);
    const database = lockedDatabase(file);
    if (database === undefined) return undefined;
    // The holder before may have removed the file between its opening and the lock: then this lock protects no file.
    if (inode !== undefined && inodeOf(file) === inode) {
      // Removed before the lock is released: afterwards the file could be another holder's.
      return hold(database, () => { rmSync(file, { force: true }); });
    }
    database.close();
  }
}

/** Returns whether the lock of a file is taken, without changing anything. */
export function isFileLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = openDatabase(file, { readOnly: true, timeout: 0 });
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

function lockedDatabase(file: string): DatabaseSync | undefined {
  const database = openDatabase(file, { timeout: 0 });
  try {
    // The file stays empty, so SQLite needs no journal beside it: a full disk takes no new file.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return database;
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return undefined;
    if (errorCodeOf(cause) !== SQLITE_IOERR_LOCK) throw cause;
    throw new GannetError(
      'FEATURE_UNAVAILABLE',
      `${file} cannot be locked: its filesystem takes no file locks, as some network shares; use a folder on a local `
        + 'disk',
      { cause },
    );
  }
}

function hold(database: DatabaseSync, beforeRelease = (): void => undefined): FileLock {
  held.add(database);
  return {
    release() {
      if (!held.delete(database)) return;
      beforeRelease();
      database.close();
    },
  };
}

/**
 * SQLite would only say that it cannot open the file, while a caller must recognise a full disk. An existing file is
 * not opened: closing it again would give up a lock that this process has on it (POSIX).
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function isBusy(cause: unknown): boolean {
  return (errorCodeOf(cause) & 0xff) === SQLITE_BUSY;
}

function errorCodeOf(cause: unknown): number {
  return cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : 0;
}
