import {
  closeSync, constants, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { valueOf } from '../command-process.ts';
import type { KeptFile } from './kept-files.ts';

/** Marks a SQLite file as a signer's counters ("GNSG"). */
const APPLICATION_ID = 0x47_4e_53_47;
const FORMAT = 2;
/** The kind of file of the counters, for what reads its header without opening it as the signer. */
export const COUNTERS_KIND = { applicationId: APPLICATION_ID, format: FORMAT } as const;
/** A second process on the same wallet is a mistake: a signature need not wait long for it. */
const BUSY_TIMEOUT_MS = 500;
const SQLITE_IOERR = 10;
export const COUNTERS_FILE = 'signer.sqlite';

const SCHEMA = `
-- SQLite's integers end at 2^63 - 1 and are to be added up: an amount is amount_high * 2^32 + amount_low.
CREATE TABLE spends (
  number INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  message_hash TEXT NOT NULL,
  mint TEXT NOT NULL,
  -- What the swap spends, what it costs beside, or a mark of the counters themselves.
  kind TEXT NOT NULL CHECK (kind IN ('input', 'cost', 'begun', 'adopted', 'full', 'accepted')),
  amount_high INTEGER NOT NULL,
  amount_low INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- Over this row and the tag of the wallet's row before it.
  tag BLOB NOT NULL,
  UNIQUE (wallet, message_hash, kind)
) STRICT;
-- The tag of the last row of a wallet that was forgotten for its age.
CREATE TABLE anchors (
  wallet TEXT PRIMARY KEY,
  last BLOB NOT NULL,
  tag BLOB NOT NULL
) STRICT;
`;
/** The rows of the earlier format have no tags: they stay apart until the signer of their wallet takes them over. */
const SET_EARLIER_APART = `
DROP INDEX spends_old;
DROP INDEX spends_recent;
ALTER TABLE spends RENAME TO earlier_spends;
`;

/**
 * Returns the signer's own folder, that of the variable GANNET_SIGNER_DIR or `signer` in the state directory, and the
 * state directory; both absolute.
 */
export function signerFolders({ args, environment, workingDir }: {
  readonly args: readonly string[]; readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDir: string;
}): { readonly countersDir: string; readonly stateDir: string } {
  const stateDir = resolve(workingDir, valueOf(args, '--state-dir') ?? './state');
  return { stateDir, countersDir: countersFolder(stateDir, environment, workingDir) };
}

/** Returns the signer's own folder of a state directory, absolute. */
export function countersFolder(
  stateDir: string, environment: Readonly<Record<string, string | undefined>>, workingDir: string,
): string {
  const own = environment['GANNET_SIGNER_DIR'] ?? '';
  return own === '' ? resolve(stateDir, 'signer') : resolve(workingDir, own);
}

/** Returns the files of the counters in the signer's folder while they are open. */
export function countersFiles(folder: string): readonly KeptFile[] {
  const path = join(folder, COUNTERS_FILE);
  return [
    { name: 'the file of the signer’s counters', path },
    { name: 'the WAL of the signer’s counters', path: `${path}-wal` },
  ];
}

/**
 * Moves counters of an earlier version from the state directory into the signer's folder, where there are none yet.
 * Throws the fault of the disk.
 */
export function moveEarlierCounters(stateDir: string, folder: string): void {
  const [from, to] = [join(stateDir, COUNTERS_FILE), join(folder, COUNTERS_FILE)];
  if (folder === stateDir || existsSync(to) || !existsSync(from)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The file itself moves last, so that an interrupted move goes on at the next start.
  if (existsSync(`${from}-wal`)) renameSync(`${from}-wal`, `${to}-wal`);
  rmSync(`${from}-shm`, { force: true });
  renameSync(from, to);
}

/**
 * Opens the file of the counters in the signer's folder, created for its owner alone. Committed rows are on disk.
 * Throws JOURNAL_INVALID on another file, a torn one or a newer format, JOURNAL_FAILED where it cannot be opened.
 */
export function openCounters(folder: string): DatabaseSync {
  const path = join(folder, COUNTERS_FILE);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    createForOwner(path, folder);
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      prepare(database, path);
    } catch (cause) {
      // A full disk has no room for the shared WAL index: without it this process alone uses the counters.
      if (!(cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === SQLITE_IOERR))
        throw cause;
      database.close();
      database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      prepare(database, path);
    }
    return database;
  } catch (cause) {
    database?.close();
    if (isGannetError(cause)) throw cause;
    throw new GannetError(
      'JOURNAL_FAILED',
      `the signer's counters ${path} cannot be opened: ${printable(messageOf(cause))}; check the folder and its `
        + 'permissions, or move a broken file away: its counted spending is lost then',
      { cause, details: { path } },
    );
  }
}

/**
 * Opens the counters in the signer's folder for reading; undefined where there are none of this format yet. Throws
 * JOURNAL_INVALID or JOURNAL_FAILED.
 */
export function openCountersToRead(folder: string): DatabaseSync | undefined {
  const path = join(folder, COUNTERS_FILE);
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    // Without a WAL no process has the file open; SQLite would create one, unless the file counts as immutable.
    const hasWal = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const url = new URL(`file://${path.split('/').map(encodeURIComponent).join('/')}${hasWal ? '' : '?immutable=1'}`);
    database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const pragma = (name: string): number => Number(database!.prepare(`PRAGMA ${name}`).get()?.[name]);
    const version = pragma('user_version');
    const fault = countersFault({ applicationId: pragma('application_id'), version });
    if (fault !== undefined)
      throw new GannetError('JOURNAL_INVALID', `${path}: ${fault}`, { details: { path, found: version } });
    if (version === FORMAT) return database;
    database.close();
    return undefined;
  } catch (cause) {
    database?.close();
    if (isGannetError(cause)) throw cause;
    throw new GannetError('JOURNAL_FAILED',
      `the signer's counters ${path} cannot be read: ${printable(messageOf(cause))}`, { cause, details: { path } });
  }
}

/** Another user with write access to the folder could replace the counters. */
function createForOwner(path: string, folder: string): void {
  const { mode, uid } = statSync(folder);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw foreign(`the folder ${folder} belongs to another user`);
  if ((mode & 0o1002) === 0o002)
    throw foreign(`every user may write in the folder ${folder}; run: chmod o-w ${printable(folder)}`);
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    if (own !== undefined && fstatSync(file).uid !== own) throw foreign('it belongs to another user');
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
}

function foreign(problem: string): Error {
  return new Error(`expected counters that no other user can change, but ${printable(problem)}`);
}

/** Returns what is wrong with the file of counters, judged by its header; undefined where it can be used. */
export function countersFault({ applicationId, version }: {
  readonly applicationId: number; readonly version: number;
}): string | undefined {
  if (applicationId !== APPLICATION_ID) return 'expected the signer’s counters, found another SQLite database';
  return version <= FORMAT ? undefined
    : `expected format ${FORMAT} or older, found format ${version} of a newer Gannet`;
}

/** Returns how many swaps of a wallet the counters hold, of the last day and of all that they keep. */
export function countedSwaps(
  database: DatabaseSync, wallet: string, dayBegan: Millis,
): { readonly inDay: number; readonly inMonth: number } {
  const row = database.prepare(`SELECT count(*) AS month, count(*) FILTER (WHERE at > ?) AS day FROM spends
    WHERE wallet = ? AND kind = 'input' AND (amount_high > 0 OR amount_low > 0)`).get(dayBegan, wallet);
  return { inDay: Number(row?.['day']), inMonth: Number(row?.['month']) };
}

function prepare(database: DatabaseSync, path: string): void {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const version = pragma('user_version');
  const tables = Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables']);
  const invalid = (problem: string): GannetError =>
    new GannetError('JOURNAL_INVALID', `${path}: ${problem}`, { details: { path, found: version, expected: FORMAT } });
  if (pragma('application_id') !== APPLICATION_ID && tables > 0)
    throw invalid('expected the signer’s counters, found another SQLite database; give another state directory');
  if (version > FORMAT) throw invalid(`expected the signer’s counters in format ${FORMAT} or older, found format `
    + `${version} of a newer Gannet: start that one`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (check !== 'ok')
    throw invalid(`expected whole counters, found: ${printable(String(check))}; restore the file from a copy`);
  if (version === FORMAT) return;
  if (version > 0) copyBefore(database, `${path}.format-${version}`);
  database.exec('BEGIN IMMEDIATE');
  // Another process may have been here since the version was read.
  const current = pragma('user_version');
  if (current === 1) database.exec(SET_EARLIER_APART);
  if (current < FORMAT)
    database.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT};`);
  database.exec('COMMIT');
}

/** Keeps the counters as the earlier version wrote them, for the way back to it. */
function copyBefore(database: DatabaseSync, copy: string): void {
  rmSync(copy, { force: true });
  // Created here with a private mode; SQLite fills an empty file.
  closeSync(openSync(copy, 'wx', 0o600));
  database.prepare('VACUUM INTO ?').run(copy);
}
