import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { JOURNAL_APPLICATION_ID, JOURNAL_FORMAT, MIGRATIONS } from './schema.ts';

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the journal's file, made where it is missing, and brings it to the present format. What is committed is on disk.
 * Throws JOURNAL_INVALID on another file, a torn one or a newer format, and JOURNAL_FAILED where it cannot be opened.
 */
export function openJournalDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Made here so that nobody else may read it; SQLite gives its side files the same mode.
    closeSync(openSync(path, 'a', 0o600));
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    prepareDatabase(database, path);
    return database;
  } catch (cause) {
    database?.close();
    throw openFault(path, cause);
  }
}

function prepareDatabase(database: DatabaseSync, path: string): void {
  // Read before the first write, so that a foreign file stays as it is.
  const applicationId = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  const tables = Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables']);
  if (applicationId !== JOURNAL_APPLICATION_ID && tables > 0) throw invalid(path, 'expected a Gannet journal, found another SQLite database; give another state directory');
  if (version > JOURNAL_FORMAT.version) throw newer(database, path, version);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (check !== 'ok') throw invalid(path, `expected a whole database, found: ${String(check)}; ${REMEDY}`);
  migrate(database, version);
}

function migrate(database: DatabaseSync, from: number): void {
  if (from === JOURNAL_FORMAT.version) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been here since the version was read.
    for (const migration of MIGRATIONS.slice(pragma(database, 'user_version'))) database.exec(migration);
    database.exec(`PRAGMA application_id = ${JOURNAL_APPLICATION_ID}; PRAGMA user_version = ${JOURNAL_FORMAT.version};`);
    database.prepare('INSERT OR REPLACE INTO format (id, readable_since) VALUES (1, ?)').run(JOURNAL_FORMAT.since);
    database.exec('COMMIT');
  } catch (cause) {
    database.exec('ROLLBACK');
    throw cause;
  }
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function newer(database: DatabaseSync, path: string, version: number): GannetError {
  const since = database.prepare('SELECT readable_since FROM format WHERE id = 1').get()?.['readable_since'];
  return new GannetError('JOURNAL_INVALID', `${path} has format ${version}, which Gannet ${String(since)} reads; this one reads up to format ${JOURNAL_FORMAT.version}`, {
    details: { path, found: version, expected: JOURNAL_FORMAT.version, readable_since: String(since) },
  });
}

function invalid(path: string, problem: string): GannetError {
  return new GannetError('JOURNAL_INVALID', `${path}: ${problem}`, { details: { path } });
}

/** SQLite's own numbers for "not a database" and "malformed". */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Swaps may be open in it: whoever throws it away forgets them, and nobody would know what became of them. */
const REMEDY = 'restore it from a copy. Without one, see with "gannet journal list" what can still be read, look up on the chain what was open, and only then move the file away';

function openFault(path: string, cause: unknown): GannetError {
  if (isGannetError(cause)) return cause;
  const number = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;
  const broken = number === SQLITE_CORRUPT || number === SQLITE_NOTADB;
  const problem = broken ? 'expected a Gannet journal, found a broken or foreign file' : 'cannot be opened';
  const remedy = broken ? REMEDY : 'check the folder, its permissions and the room on its disk';
  return new GannetError(broken ? 'JOURNAL_INVALID' : 'JOURNAL_FAILED', `${path}: ${problem}: ${messageOf(cause)}; ${remedy}`, { details: { path }, cause });
}
