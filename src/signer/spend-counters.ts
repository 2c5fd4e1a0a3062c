import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { KeptFile } from './kept-files.ts';
import type { Millis } from '../core/time.ts';

/** Marks a SQLite file as a signer's counters ("GNSG"). */
const APPLICATION_ID = 0x47_4e_53_47;
const FORMAT = 1;
/** A second process on the same wallet is a mistake: a signature need not wait long for it. */
const BUSY_TIMEOUT_MS = 500;
const SQLITE_IOERR = 10;
export const COUNTERS_FILE = 'signer.sqlite';

/** The input of a swap, or its costs. */
export type SpendKind = 'input' | 'cost';

/** One row of the counters. */
export interface BookedSpend {
  readonly messageHash: string;
  readonly kind: SpendKind;
  readonly mint: string;
  /** Smallest units. */
  readonly amount: bigint;
  readonly at: Millis;
}

/** One wallet's recent spending, in memory beside the counters, so that a sum needs no query. */
export interface SpendBook {
  /**
   * Reads rows that another process wrote, and rows that a clock set back brings into the window again. Called within a
   * transaction.
   */
  catchUp(now: Millis): void;
  /** Returns the spending of bytes that were signed recently. */
  known(messageHash: string): Pick<BookedSpend, 'mint' | 'amount'> | undefined;
  /** Returns the sum of all spending after a time, the clock's future included. */
  since(kind: SpendKind, mint: string, after: Millis): bigint;
  /** Returns the time of the oldest spending after a time; undefined where there is none. */
  oldestAfter(kind: SpendKind, mint: string, after: Millis): Millis | undefined;
  /** Adds committed rows. */
  enter(spends: readonly BookedSpend[]): void;
  /** Makes the next `catchUp` read everything again: the last write may or may not be on disk. */
  invalidate(): void;
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

const HOUR_MS: Millis = 3_600_000;
/** Kept in addition to the window, since a clock is sometimes set back a little. */
const MARGIN_MS: Millis = HOUR_MS;

/** Returns the files of the counters in a state directory while they are open. */
export function countersFiles(stateDir: string): readonly KeptFile[] {
  const path = join(stateDir, COUNTERS_FILE);
  return [
    { name: 'the file of the signer’s counters', path },
    { name: 'the WAL of the signer’s counters', path: `${path}-wal` },
  ];
}

/** Returns counters in memory, for a chain that ends with the process. */
export function openPassingCounters(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA);
  return database;
}

/**
 * Opens the file of the counters in a state directory, created for its owner alone. Committed rows are on disk. Throws
 * JOURNAL_INVALID on another file, a torn one or a newer format, JOURNAL_FAILED where it cannot be opened.
 */
export function openCounters(stateDir: string): DatabaseSync {
  const path = join(stateDir, COUNTERS_FILE);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    createForOwner(path, stateDir);
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

/** Another user with write access to the folder could replace the counters. */
function createForOwner(path: string, stateDir: string): void {
  const { mode, uid } = statSync(stateDir);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw foreign(`the folder ${stateDir} belongs to another user`);
  if ((mode & 0o1002) === 0o002)
    throw foreign(`every user may write in the folder ${stateDir}; run: chmod o-w ${printable(stateDir)}`);
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
  database.exec('BEGIN IMMEDIATE');
  // Another process may have been here since the version was read.
  if (pragma('user_version') === 0)
    database.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT};`);
  database.exec('COMMIT');
}

/**
 * Returns the book of a wallet over its counters, for windows of at most `windowMs`. Rows that are deleted from the
 * file, or made smaller, still count until their window or the process ends.
 */
export function createSpendBook(
  database: DatabaseSync, { wallet, windowMs }: { readonly wallet: string; readonly windowMs: Millis },
): SpendBook {
  const version = database.prepare('PRAGMA data_version');
  const after = database.prepare(
    'SELECT message_hash, kind, mint, amount_high, amount_low, at FROM spends WHERE wallet = ? AND at > ?',
  );
  let booked = new Map<string, BookedSpend>();
  let sums = new Map<string, RunningSums>();
  /** All spending after this time is in the book. */
  let from: Millis = Infinity;
  let readAt: unknown;

  function sumsOf(kind: SpendKind, mint: string): RunningSums {
    const key = `${kind} ${mint}`;
    const known = sums.get(key) ?? createRunningSums();
    sums.set(key, known);
    return known;
  }

  function enter(spend: BookedSpend): void {
    const key = `${spend.messageHash} ${spend.kind}`;
    const before = booked.get(key)?.amount ?? 0n;
    if (before >= spend.amount) return;
    booked.set(key, spend);
    sumsOf(spend.kind, spend.mint).add(spend.at, spend.amount - before);
  }

  function forgetUntil(limit: Millis): void {
    const kept = [...booked.values()].filter(({ at }) => at > limit).sort((a, b) => a.at - b.at);
    booked = new Map();
    sums = new Map();
    kept.forEach(enter);
    from = limit;
  }

  return {
    catchUp(now) {
      const begin = now - windowMs;
      if (begin - 2 * MARGIN_MS > from) forgetUntil(begin - MARGIN_MS);
      const written = version.get()?.['data_version'];
      if (written === readAt && begin >= from) return;
      from = Math.min(from, begin - MARGIN_MS);
      for (const row of after.all(wallet, from)) enter(spendOf(row));
      readAt = written;
    },
    known: (messageHash) => booked.get(`${messageHash} input`),
    since: (kind, mint, limit) => sumsOf(kind, mint).after(limit),
    oldestAfter: (kind, mint, limit) => sumsOf(kind, mint).oldestAfter(limit),
    enter: (spends) => { spends.forEach(enter); },
    invalidate: () => { readAt = undefined; },
  };
}

function spendOf(row: Readonly<Record<string, unknown>>): BookedSpend {
  return {
    messageHash: String(row['message_hash']), kind: row['kind'] === 'cost' ? 'cost' : 'input',
    mint: String(row['mint']), amount: amountOf(row), at: Number(row['at']),
  };
}

/** Returns the amount of a row of the counters. */
export function amountOf(row: Readonly<Record<string, unknown>>): bigint {
  return (BigInt(Number(row['amount_high'])) << 32n) + BigInt(Number(row['amount_low']));
}

interface RunningSums {
  add(at: Millis, amount: bigint): void;
  after(limit: Millis): bigint;
  oldestAfter(limit: Millis): Millis | undefined;
}

/** Amounts by time, each with the sum up to it; the newest usually comes last. */
function createRunningSums(): RunningSums {
  const times: Millis[] = [];
  const upTo: bigint[] = [];

  /** The number of amounts up to a time. */
  function countUntil(limit: Millis): number {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[middle]! <= limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(at, amount) {
      const place = countUntil(at);
      times.splice(place, 0, at);
      upTo.splice(place, 0, upTo[place - 1] ?? 0n);
      for (let index = place; index < upTo.length; index++) upTo[index] = upTo[index]! + amount;
    },
    oldestAfter: (limit) => times[countUntil(limit)],
    after: (limit) => (upTo.at(-1) ?? 0n) - (upTo[countUntil(limit) - 1] ?? 0n),
  };
}
