import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import type { StateSnapshot } from '../trading/engine-state.ts';
import type { IntentState } from '../trading/intent.ts';
import type { Prepare } from './database.ts';
import { BUSY_TIMEOUT_MS, createTransactor, migrate, openFault, pragma } from './database.ts';
import type { LedgerStart, SettledSwap } from './fill-records.ts';
import { createFillRecords } from './fill-records.ts';
import { isEmpty, lackingEnd, openJournalHead, positionOf } from './journal-head.ts';
import type { IntentListing, IntentStory } from './journal-listing.ts';
import { createListings } from './journal-listing.ts';
import type { WalletAdjustmentRecord } from './journal-records.ts';
import { createAdjustments } from './journal-records.ts';
import { JOURNAL, JOURNAL_APPLICATION_ID, JOURNAL_FORMAT } from './journal-schema.ts';
import type { JournalStore } from './journal.ts';
import { createJournalReads } from './journal.ts';

/** A journal opened for reading; its daemon may go on writing it. */
export interface JournalReader {
  /** Newest first. */
  list(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  show(intentId: string): IntentStory | undefined;
  close(): void;
}

/** Opens a journal for reading; undefined without one. Throws JOURNAL_INVALID on another file or a newer format. */
export function openJournalReader(path: string): JournalReader | undefined {
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const opened = database;
    ensureReadable(opened, path);
    const hasPacked = pragma(opened, 'user_version') >= PACKED_SINCE;
    return { ...createListings((sql) => opened.prepare(sql), { hasPacked }), close: () => { opened.close(); } };
  } catch (cause) {
    database?.close();
    if (isGannetError(cause)) throw cause;
    throw new GannetError(
      'JOURNAL_INVALID', `${path}: expected a Gannet journal, got: ${messageOf(cause)}`, { details: { path }, cause },
    );
  }
}

/** Throws JOURNAL_INVALID for a database that is not a journal, or one of a newer format. */
function ensureReadable(database: DatabaseSync, path: string): void {
  const id = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  if (id !== JOURNAL_APPLICATION_ID) throw new GannetError(
    'JOURNAL_INVALID', `${path}: expected a Gannet journal, found another SQLite database`, { details: { path } },
  );
  if (version <= JOURNAL_FORMAT.version) return;
  throw new GannetError('JOURNAL_INVALID',
    `${path} has format ${version}; this Gannet reads up to format ${JOURNAL_FORMAT.version}`, {
      details: { path, found: version, expected: JOURNAL_FORMAT.version },
    });
}

/** What profit is computed from. */
export interface ProfitRecords {
  /** Ended swaps that moved or cost something, oldest first. */
  readonly swaps: readonly SettledSwap[];
  readonly ledgerStarts: readonly LedgerStart[];
  /** Oldest first. */
  readonly adjustments: readonly WalletAdjustmentRecord[];
  /** The budgets of the strategies' books. */
  readonly budgets: Readonly<Record<string, { readonly mint: Mint; readonly amount: bigint }>>;
}

/** The formats since which adjustments and values of fills are kept, and since which finished swaps are packed. */
const ADJUSTMENTS_SINCE = 2;
const VALUES_SINCE = 7;
const PACKED_SINCE = 8;

/**
 * Reads what profit is computed from; undefined without a journal. Its daemon may go on writing it, and it may have an
 * earlier format. Throws JOURNAL_INVALID on another file or a newer format.
 */
export function readProfitRecords(path: string): ProfitRecords | undefined {
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    ensureReadable(database, path);
    const version = pragma(database, 'user_version');
    const { prepare, read } = createTransactor(database, path, JOURNAL);
    const fills = createFillRecords(prepare, {
      hasValues: version >= VALUES_SINCE, hasPacked: version >= PACKED_SINCE,
    });
    // One state of the file for all of it.
    return read(() => ({
      swaps: fills.settled({ after: 0, limit: ALL_ROWS }).swaps,
      ledgerStarts: fills.ledgerStarts(),
      adjustments: version < ADJUSTMENTS_SINCE ? []
        : createAdjustments(prepare).list({ limit: ALL_ROWS }).toReversed(),
      budgets: budgetsIn(prepare),
    }));
  } catch (cause) {
    throw isGannetError(cause) ? cause : openFault(path, JOURNAL, cause);
  } finally {
    database?.close();
  }
}

const ALL_ROWS = Number.MAX_SAFE_INTEGER;

function budgetsIn(prepare: Prepare): ProfitRecords['budgets'] {
  const row = prepare('SELECT state FROM snapshot WHERE id = 1').get();
  const { books = {} } = row === undefined ? {} : JSON.parse(String(row['state'])) as Partial<StateSnapshot>;
  return Object.fromEntries(Object.entries(books).flatMap(([name, { budget }]) =>
    (budget === undefined ? [] : [[name, { mint: budget.mint as Mint, amount: BigInt(budget.amount) }]])));
}

/** The part of a journal from which a run would start, without writing. */
export type JournalView = Pick<JournalStore,
  'standing' | 'attemptsSince' | 'openIntents' | 'unsettledOutcomes' | 'loadSnapshot' | 'listRuns' | 'close'>;

/**
 * Opens a journal for reading and creates no file beside it. A missing journal reads as an empty one. Returns undefined
 * for an older format, which only a run migrates. Throws JOURNAL_INVALID on another file or
 * a newer format, JOURNAL_FAILED where it cannot be read.
 */
export function openJournalView(path: string): JournalView | undefined {
  const head = openJournalHead(path);
  let database: DatabaseSync | undefined;
  try {
    database = sizeOf(path) === 0 ? emptyJournal() : openToRead(path);
    ensureReadable(database, path);
    if (pragma(database, 'user_version') === JOURNAL.migrations.length) return viewOf(database, path, head);
    database.close();
    return undefined;
  } catch (cause) {
    database?.close();
    throw isGannetError(cause) ? cause : openFault(path, JOURNAL, cause);
  }
}

function viewOf(database: DatabaseSync, path: string, head: ReturnType<typeof openJournalHead>): JournalView {
  const transactor = createTransactor(database, path, JOURNAL);
  const position = positionOf(transactor.prepare);
  return {
    ...createJournalReads(transactor),
    standing: () =>
      ({ isNew: isEmpty(position), writtenTo: lackingEnd(head, position), position, acceptedAt: head.acceptedAt }),
    close: transactor.close,
  };
}

/**
 * Opens a SQLite file for reading. Without a WAL no process has the file open. It is then opened as immutable, because
 * SQLite would create a WAL.
 */
export function openToRead(path: string): DatabaseSync {
  const url = pathToFileURL(resolve(path));
  if (sizeOf(`${path}-wal`) === 0) url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

function emptyJournal(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrate(database, JOURNAL);
  return database;
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
