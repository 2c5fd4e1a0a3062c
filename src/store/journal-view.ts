import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isGannetError } from '../core/errors.ts';
import { BUSY_TIMEOUT_MS, migrate, openFault, pragma } from './database.ts';
import { createIntents } from './intents.ts';
import { isEmpty, lackingEnd, openJournalHead, positionOf } from './journal-head.ts';
import { ensureReadable } from './journal-reader.ts';
import type { JournalStore } from './journal.ts';
import { createRuns } from './runs.ts';
import { JOURNAL } from './schema.ts';
import { createSavedSnapshot } from './snapshot.ts';
import { createTransactor } from './transactor.ts';

/** What a journal says of the state in which a run would start; nothing is written. */
export type JournalView = Pick<JournalStore,
  'standing' | 'attemptsSince' | 'openIntents' | 'unsettledOutcomes' | 'loadSnapshot' | 'listRuns' | 'close'>;

/**
 * Opens a journal for reading alone, and makes no file beside it. A journal that is missing reads as an empty one.
 * Undefined for an older format, which only a run brings to the present one. Throws JOURNAL_INVALID on another file or
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
  const { prepare, read, close } = createTransactor(database, path, JOURNAL);
  const intents = createIntents(prepare);
  const snapshot = createSavedSnapshot(prepare);
  const runs = createRuns(prepare);
  const position = positionOf(prepare);
  return {
    standing: () =>
      ({ isNew: isEmpty(position), wentTo: lackingEnd(head, position), position, acceptedAt: head.acceptedAt }),
    attemptsSince: (feePayer, at) => read(() => intents.attemptsSince(feePayer, at)),
    openIntents: () => read(() => intents.open()),
    unsettledOutcomes: () => read(() => intents.unsettled()),
    loadSnapshot: () => read(() => snapshot.load()),
    listRuns: (options) => read(() => runs.list(options)),
    close,
  };
}

/** Without a WAL no process has the file open: SQLite is told so, since it would make a WAL to read by. */
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
