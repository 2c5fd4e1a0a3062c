import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { IntentState } from '../trading/intent.ts';
import { BUSY_TIMEOUT_MS, createTransactor, migrate, openFault, pragma } from './database.ts';
import { isEmpty, lackingEnd, openJournalHead, positionOf } from './journal-head.ts';
import type { IntentListing, IntentStory } from './journal-listing.ts';
import { createListings } from './journal-listing.ts';
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
    return { ...createListings((sql) => opened.prepare(sql)), close: () => { opened.close(); } };
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

/** Without a WAL no process has the file open. It is then opened as immutable, because SQLite would create a WAL. */
function openToRead(path: string): DatabaseSync {
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
