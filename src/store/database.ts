import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import { AssertionError } from '../core/assert.ts';
import type { ErrorCode } from '../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';

/** How long to wait for a file that another process holds, milliseconds. */
export const BUSY_TIMEOUT_MS = 5_000;

/** A kind of SQLite file in the state directory, with its format and migrations. */
export interface DatabaseKind {
  /** For messages: "journal". */
  readonly name: string;
  /** The mark in the header of a file of this kind. */
  readonly applicationId: number;
  /** The migrations; number n leads to format n + 1. The first one creates the table of `FORMAT_TABLE`. */
  readonly migrations: readonly string[];
  /** The release that introduced the present format. */
  readonly since: string;
  /** The error codes of a file with wrong content, and of a file that cannot be opened, read or written. */
  readonly codes: { readonly invalid: ErrorCode; readonly failed: ErrorCode };
  /** For messages: what to do about a broken file. */
  readonly remedy: string;
  /** How long to wait for another process, where that is not `BUSY_TIMEOUT_MS`. */
  readonly busyTimeoutMs?: number | undefined;
}

/** Names in the file itself the release that can read it. */
export const FORMAT_TABLE = `
CREATE TABLE format (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  readable_since TEXT NOT NULL
) STRICT;
`;

/**
 * Opens a file of a kind, creates it where it is missing, and migrates it to the present format. Commits are synced to
 * the disk. Throws the kind's `invalid` code on a foreign, torn or newer file, and its `failed` code where the file
 * cannot be opened.
 */
export function openDatabase(path: string, kind: DatabaseKind): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Created here with a private mode; SQLite gives its side files the same mode.
    closeSync(openSync(path, 'a', 0o600));
    database = openShared(path, kind);
    return database;
  } catch (cause) {
    database?.close();
    throw openFault(path, kind, cause);
  }
}

/** SQLite's code for a fault of the disk. A full disk takes no shared-memory file for the WAL. */
const SQLITE_IOERR = 10;

/** On a full disk the file is opened for this process alone: it can be read, and written once there is room. */
function openShared(path: string, kind: DatabaseKind, locking: 'NORMAL' | 'EXCLUSIVE' = 'NORMAL'): DatabaseSync {
  const { busyTimeoutMs: timeout = BUSY_TIMEOUT_MS } = kind;
  const database = new DatabaseSync(path, { timeout, enableForeignKeyConstraints: true });
  try {
    if (locking === 'EXCLUSIVE') database.exec('PRAGMA locking_mode = EXCLUSIVE');
    prepareDatabase(database, path, kind);
    return database;
  } catch (cause) {
    database.close();
    const isDiskFault = cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === SQLITE_IOERR;
    if (locking === 'EXCLUSIVE' || !isDiskFault) throw cause;
    return openShared(path, kind, 'EXCLUSIVE');
  }
}

function prepareDatabase(database: DatabaseSync, path: string, kind: DatabaseKind): void {
  // Read before the first write, so that a foreign file stays as it is.
  const { applicationId, version, tables } = headerOf(database);
  if (applicationId !== kind.applicationId && tables > 0) throw invalid(
    path, kind, `expected a Gannet ${kind.name}, found another SQLite database; give another state directory`,
  );
  if (version > kind.migrations.length) throw newer(database, path, { kind, version });
  // Before the first table, where it takes effect.
  if (tables === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (check !== 'ok') throw invalid(path, kind, `expected a whole database, found: ${String(check)}; ${kind.remedy}`);
  if (version < kind.migrations.length) migrate(database, kind);
}

/** Reads in one transaction: another process may be creating the file. */
function headerOf(
  database: DatabaseSync,
): { readonly applicationId: number; readonly version: number; readonly tables: number } {
  database.exec('BEGIN');
  const header = {
    tables: Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables']),
    applicationId: pragma(database, 'application_id'),
    version: pragma(database, 'user_version'),
  };
  database.exec('COMMIT');
  return header;
}

/** Migrates a file of a kind to the present format. */
export function migrate(database: DatabaseSync, { applicationId, migrations, since }: DatabaseKind): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated the file since the version was read.
    for (const migration of migrations.slice(pragma(database, 'user_version'))) database.exec(migration);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length};`);
    database.prepare('INSERT OR REPLACE INTO format (id, readable_since) VALUES (1, ?)').run(since);
    database.exec('COMMIT');
  } catch (cause) {
    database.exec('ROLLBACK');
    throw cause;
  }
}

/** Returns a number from the header of a database. */
export function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function newer(
  database: DatabaseSync, path: string, { kind, version }: { readonly kind: DatabaseKind; readonly version: number },
): GannetError {
  const since = database.prepare('SELECT readable_since FROM format WHERE id = 1').get()?.['readable_since'];
  const present = kind.migrations.length;
  return new GannetError(kind.codes.invalid,
    `${path} has format ${version}, which Gannet ${String(since)} reads; this one reads up to format ${present}`, {
      details: { path, found: version, expected: present, readable_since: String(since) },
    });
}

function invalid(path: string, { codes }: DatabaseKind, problem: string): GannetError {
  return new GannetError(codes.invalid, `${path}: ${problem}`, { details: { path } });
}

/** SQLite's codes for "malformed" and "not a database". */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Returns the error for a file that could not be opened, with what to do about it. */
export function openFault(path: string, { name, codes, remedy }: DatabaseKind, cause: unknown): GannetError {
  if (isGannetError(cause)) return cause;
  const number = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;
  const broken = number === SQLITE_CORRUPT || number === SQLITE_NOTADB;
  const problem = broken ? `expected a Gannet ${name}, found a broken or foreign file` : 'cannot be opened';
  const todo = broken ? remedy : 'check the folder, its permissions and the room on its disk';
  return new GannetError(broken ? codes.invalid : codes.failed, `${path}: ${problem}: ${messageOf(cause)}; ${todo}`, {
    details: { path }, cause,
  });
}

/** Returns a prepared statement, to be used within the transaction of the caller. */
export type Prepare = (sql: string) => StatementSync;

/** Transactions on one database: each is on disk when it returns, or has no effect. */
export interface Transactor {
  /** Returns the same statement for the same text. */
  readonly prepare: Prepare;
  /** Throws the kind's failure code where the disk does not take the write. Asserts that no constraint is violated. */
  readonly commit: (work: () => void) => void;
  /** Runs several reads on the same state. */
  readonly read: <T>(work: () => T) => T;
  /** Copies the WAL into the main file, as far as readers allow it. Throws like `commit`. */
  readonly checkpoint: () => void;
  readonly close: () => void;
}

/** SQLite's code for a violated constraint. */
const SQLITE_CONSTRAINT = 19;
/** SQLite's code for a file that another process has locked for longer than the timeout. */
const SQLITE_BUSY = 5;

/** Returns the transactions of a database; `path` is for messages. */
export function createTransactor(
  database: DatabaseSync, path: string, { name, codes }: Pick<DatabaseKind, 'name' | 'codes'>,
): Transactor {
  const statements = new Map<string, StatementSync>();

  const prepare: Prepare = (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };

  function transact<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    try {
      prepare(begin).run();
      const result = work();
      prepare('COMMIT').run();
      return result;
    } catch (cause) {
      // After some faults of the disk SQLite has already rolled back.
      if (database.isOpen && database.isTransaction) prepare('ROLLBACK').run();
      throw fault(cause);
    }
  }

  function fault(cause: unknown): unknown {
    const number = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;
    if (number === undefined) return cause;
    if (number === SQLITE_CONSTRAINT)
      return new AssertionError(`the ${name} got a row twice or out of order: ${messageOf(cause)}`);
    const todo = number === SQLITE_BUSY ? 'another process holds the file: end that one, or try again'
      : "check the disk's space and health";
    return new GannetError(
      codes.failed, `${path}: expected the row to be written, got: ${messageOf(cause)}; ${todo}`,
      { details: { path }, cause },
    );
  }

  return {
    prepare,
    // Immediate, so that no other process writes between the reads and the writes.
    commit: (work) => { transact('BEGIN IMMEDIATE', work); },
    read: (work) => transact('BEGIN', work),
    checkpoint: () => {
      try {
        prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
      } catch (cause) {
        throw fault(cause);
      }
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}
