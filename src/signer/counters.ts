import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { KeptFile } from './kept-files.ts';

/** Marks a SQLite file as a signer's counters ("GNSG"). */
const APPLICATION_ID = 0x47_4e_53_47;
const FORMAT = 1;
/** A second process on the same wallet is a mistake: whoever signs need not wait long for it. */
const BUSY_TIMEOUT_MS = 500;
export const COUNTERS_FILE = 'signer.sqlite';

/** Returns the files that hold the counters of a state directory while they are open. */
export function countersFiles(stateDir: string): readonly KeptFile[] {
  const path = join(stateDir, COUNTERS_FILE);
  return [{ name: 'the file of the signer’s counters', path }, { name: 'the WAL of the signer’s counters', path: `${path}-wal` }];
}

const SCHEMA = `
-- SQLite's integers end at 2^63 - 1 and are to be added up: an amount is amount_high * 2^32 + amount_low.
CREATE TABLE spends (
  number INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  message_hash TEXT NOT NULL,
  mint TEXT NOT NULL,
  -- What the swap spends, and what it costs beside.
  kind TEXT NOT NULL CHECK (kind IN ('input', 'cost')),
  amount_high INTEGER NOT NULL,
  amount_low INTEGER NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (wallet, message_hash, kind)
) STRICT;
CREATE INDEX spends_old ON spends (at);
CREATE INDEX spends_recent ON spends (wallet, mint, kind, at, amount_high, amount_low);
`;

/** Returns counters that end with the process: for a chain that ends with it too. */
export function openPassingCounters(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA);
  return database;
}

/**
 * Opens the file of the counters in a state directory, made where it is missing, for its owner's eyes only. What is
 * committed is on disk. Throws JOURNAL_INVALID on another file, a torn one or a newer format, JOURNAL_FAILED where it cannot be opened.
 */
export function openCounters(stateDir: string): DatabaseSync {
  const path = join(stateDir, COUNTERS_FILE);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    makeOwn(path, stateDir);
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    prepare(database, path);
    return database;
  } catch (cause) {
    database?.close();
    if (isGannetError(cause)) throw cause;
    throw new GannetError('JOURNAL_FAILED', `the signer's counters ${path} cannot be opened: ${printable(messageOf(cause))}; check the folder and its permissions, or move a broken file away: what was spent until now is then forgotten`, { cause, details: { path } });
  }
}

/** Whoever else may write in the folder could put other counters there, or none. */
function makeOwn(path: string, stateDir: string): void {
  const { mode, uid } = statSync(stateDir);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw foreign(`the folder ${stateDir} belongs to another user`);
  if ((mode & 0o1002) === 0o002) throw foreign(`everybody may write in the folder ${stateDir}; run: chmod o-w ${printable(stateDir)}`);
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    if (own !== undefined && fstatSync(file).uid !== own) throw foreign('it belongs to another user');
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
}

function foreign(problem: string): Error {
  return new Error(`expected counters that nobody else can change, but ${printable(problem)}`);
}

function prepare(database: DatabaseSync, path: string): void {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const version = pragma('user_version');
  const tables = Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables']);
  const invalid = (problem: string): GannetError => new GannetError('JOURNAL_INVALID', `${path}: ${problem}`, { details: { path, found: version, expected: FORMAT } });
  if (pragma('application_id') !== APPLICATION_ID && tables > 0) throw invalid('expected the signer’s counters, found another SQLite database; give another state directory');
  if (version > FORMAT) throw invalid(`expected the signer’s counters in format ${FORMAT} or older, found format ${version} of a newer Gannet: start that one`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (check !== 'ok') throw invalid(`expected whole counters, found: ${printable(String(check))}; restore the file from a copy`);
  if (version === FORMAT) return;
  database.exec('BEGIN IMMEDIATE');
  // Another process may have been here since the version was read.
  if (pragma('user_version') === 0) database.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT};`);
  database.exec('COMMIT');
}
