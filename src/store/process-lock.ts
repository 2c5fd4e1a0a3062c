import { lstatSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SchedulerAction } from 'rxjs';
import { GannetError, isGannetError, isNoRoom, messageOf } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';

/** The sole right to something on this machine. It ends with the process, however that ends. */
export interface ProcessLock {
  release(): void;
}

const SQLITE_BUSY = 5;
const REFRESH_MS = 3_600_000;

/** Databases whose locks are held: one that nobody refers to would be collected, and its lock gone with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes a lock of the operating system on a file, through SQLite: the kernel takes it back when the holder dies, so
 * there is nothing to clean up. Throws STATE_LOCKED, naming the holder's process, where somebody has it.
 */
export function takeLock(options: {
  /** Of the files, without an ending. */
  readonly name: string;
  /** Made where it is missing; ours alone. */
  readonly directory: string;
  readonly clock: Clock;
  /** What is locked, and what to do where it is: "wallet X", "give this one another wallet". */
  readonly subject: string;
  readonly remedy: string;
}): ProcessLock {
  const { name, directory, clock } = options;
  ensurePrivate(directory);
  const file = join(directory, `${name}.lock`);
  const holderFile = join(directory, `${name}.pid`);
  const database = acquire({ ...options, file, holderFile });
  // Apart from the lock's own file: opening and closing that one in this process would give the lock away (POSIX).
  writeHolder(holderFile);
  const refreshing = keepFresh(clock, [file, holderFile]);
  held.add(database);
  return {
    release() {
      refreshing.unsubscribe();
      if (held.delete(database)) database.close();
    },
  };
}

function acquire({ file, holderFile, subject, remedy }: {
  readonly file: string; readonly holderFile: string; readonly subject: string; readonly remedy: string;
}): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    // Nothing is ever written into it, so nothing need be kept beside it: a full disk takes no file.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return database;
  } catch (cause) {
    database?.close();
    const busy = cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === SQLITE_BUSY;
    if (!busy) throw unusable(`cannot lock ${file}: ${messageOf(cause)}`, cause);
    throw inUse({ subject, remedy }, readHolder(holderFile), cause);
  }
}

/**
 * The number only helps whoever meets the lock: a full disk, on which a daemon must be able to recover, may do without.
 */
function writeHolder(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`, { mode: 0o600 });
  } catch (cause) {
    if (!isNoRoom(cause)) throw cause;
  }
}

function readHolder(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (cause) {
    // The holder has the lock but has not yet written its number.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}

/** A folder that somebody else could write in is no place for a lock. */
function ensurePrivate(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { mode, uid } = lstatSync(directory);
    const ours = process.getuid === undefined || uid === process.getuid();
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0;
    if (!ours || !isPrivate) throw unusable(`expected ${directory} to be ours alone (mode 0700), found mode `
      + `${(mode & 0o777).toString(8)} and owner ${uid}; remove it`);
  } catch (cause) {
    throw isGannetError(cause) ? cause : unusable(`cannot use ${directory}: ${messageOf(cause)}`, cause);
  }
}

/** Machines clear old files out of their temporary folders: a lock held for weeks must not look old. */
function keepFresh(clock: Clock, files: readonly string[]): { unsubscribe(): void } {
  return clock.schedule(function (this: SchedulerAction<void>) {
    const now = new Date(clock.now());
    for (const file of files) touch(file, now);
    this.schedule(undefined, REFRESH_MS);
  }, REFRESH_MS);
}

/**
 * The lock holds whatever becomes of its file: one that is gone, or on a disk that takes no writes, can only not be
 * kept young.
 */
function touch(file: string, at: Date): void {
  try {
    utimesSync(file, at, at);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
  }
}

/** Returns the error of a lock that cannot be taken, whoever may have it. */
export function unusable(problem: string, cause?: unknown): GannetError {
  return new GannetError('STATE_LOCKED', problem, { cause });
}

/** Returns the error of a lock that somebody has, with his process where it is known. */
export function inUse(
  { subject, remedy }: { readonly subject: string; readonly remedy: string }, holder: number | undefined,
  cause: unknown,
): GannetError {
  return new GannetError('STATE_LOCKED',
    `${subject} is in use by ${holder === undefined ? 'another process' : `process ${holder}`}; stop it first, `
      + `or ${remedy}`,
    {
      details: { subject, pid: holder }, cause,
    });
}
