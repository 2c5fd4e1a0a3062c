import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { IntentState } from '../trading/intent.ts';
import { pragma } from './database.ts';
import type { IntentListing, IntentStory } from './listing.ts';
import { createListings } from './listing.ts';
import { JOURNAL_APPLICATION_ID, JOURNAL_FORMAT } from './schema.ts';

/** A journal that is only looked at; its daemon may go on writing it. */
export interface JournalReader {
  /** Newest first. */
  list(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  show(intentId: string): IntentStory | undefined;
  close(): void;
}

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a journal for reading alone; undefined where there is none. Throws JOURNAL_INVALID on another file or a newer
 * format.
 */
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

/** Throws JOURNAL_INVALID where a database is no journal, or one of a newer format. */
export function ensureReadable(database: DatabaseSync, path: string): void {
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
