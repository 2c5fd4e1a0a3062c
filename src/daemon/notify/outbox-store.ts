import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { DatabaseKind, Transactor } from '../../store/database.ts';
import { BUSY_TIMEOUT_MS, FORMAT_TABLE, createTransactor, openFault, pragma } from '../../store/database.ts';
import { isBroken, openSpareDatabase } from '../../store/spare-database.ts';
import type { ChannelRecord, Outbox, OutboxContent, QueuedMessage } from './outbox.ts';

/** The last run that sent notifications, so that the next one can tell how it ended. */
export interface LastRun {
  readonly runId: string;
  readonly startedAt: Millis;
  /** When it last wrote this, which it does twice a minute. */
  readonly seenAt: Millis;
  /** Null where it ended without saying so. */
  readonly endedAt: Millis | null;
}

const FIRST_FORMAT = `${FORMAT_TABLE}
-- JSON: QueuedMessage and ChannelRecord.
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE channels (
  name TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE last_run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  body TEXT NOT NULL
) STRICT;
`;

/** The kind of file of the outbox ("GNNO"). */
const NOTIFICATIONS: DatabaseKind = {
  name: 'outbox of notifications',
  applicationId: 0x47_4e_4e_4f,
  migrations: [FIRST_FORMAT],
  since: '0.2.0',
  codes: { invalid: 'NOTIFICATIONS_INVALID', failed: 'NOTIFICATIONS_FAILED' },
  remedy: 'it is set aside, and another one begins',
  // Trading waits meanwhile, and no message is worth that.
  busyTimeoutMs: 20,
};

/** Returns the file of the outbox in a state directory. */
export function outboxPath(stateDir: string): string {
  return join(stateDir, 'notifications.sqlite');
}

/** What the outbox has on the disk. Nothing here throws: without a disk the messages are in memory alone. */
export class OutboxStore {
  readonly #path: string;
  readonly #onFault: (message: string) => void;
  #transactor: Transactor | undefined;
  #isFaulty = false;
  /** Whether the content of an earlier run was read. */
  #isLoaded = false;
  /** Whether the file was replaced by an empty one. */
  #isReplaced = false;
  #isClosed = false;

  constructor(path: string, onFault: (message: string) => void) {
    this.#path = path;
    this.#onFault = onFault;
  }

  /** Returns what an earlier run left. */
  load(): OutboxContent & { readonly lastRun: LastRun | undefined } {
    return this.#attempt((transactor) => this.#contentOf(transactor))
      ?? { messages: [], channels: new Map(), lastRun: undefined };
  }

  #contentOf(transactor: Transactor): ReturnType<typeof contentOf> {
    const content = contentOf(transactor);
    this.#isLoaded = true;
    return content;
  }

  /**
   * Writes what has changed in one transaction; returns whether that succeeded. Where the file could not be read
   * before, the messages in it go into the outbox first.
   */
  save(outbox: Pick<Outbox, 'message' | 'channel' | 'dirty' | 'rewrite' | 'adopt'>, now: Millis): boolean {
    const { messages, channels } = outbox.dirty;
    if (messages.size === 0 && channels.size === 0) return true;
    return this.#attempt((transactor) => {
      if (!this.#isLoaded) outbox.adopt(this.#contentOf(transactor).messages, now);
      const { prepare, commit } = transactor;
      if (this.#isReplaced) outbox.rewrite();
      commit(() => {
        for (const id of messages) {
          const message = outbox.message(id);
          if (message === undefined) prepare('DELETE FROM messages WHERE id = ?').run(id);
          else prepare('INSERT OR REPLACE INTO messages (id, body) VALUES (?, ?)').run(id, JSON.stringify(message));
        }
        for (const name of channels) {
          prepare('INSERT OR REPLACE INTO channels (name, body) VALUES (?, ?)')
            .run(name, JSON.stringify(outbox.channel(name)));
        }
      });
      messages.clear();
      channels.clear();
      this.#isReplaced = false;
      return true;
    }) ?? false;
  }

  saveRun(run: LastRun): void {
    this.#attempt(({ prepare, commit }) => {
      commit(() => {
        prepare('INSERT OR REPLACE INTO last_run (id, body) VALUES (1, ?)').run(JSON.stringify(run));
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #attempt<T>(work: (transactor: Transactor) => T): T | undefined {
    if (this.#isClosed) return undefined;
    try {
      this.#transactor ??= this.#open();
      const result = work(this.#transactor);
      this.#isFaulty = false;
      return result;
    } catch (error) {
      if (isBroken(error, NOTIFICATIONS)) this.#drop();
      this.#fault(`notifications cannot be kept on the disk, and are sent from memory: ${messageOf(error)}`);
      return undefined;
    }
  }

  #open(): Transactor {
    return openSpareDatabase(this.#path, NOTIFICATIONS, (aside) => {
      this.#isReplaced = true;
      this.#onFault(`the outbox of notifications was broken: it is now ${aside}, and another one has begun`);
    });
  }

  #drop(): void {
    try {
      this.#transactor?.close();
    } catch (error) {
      this.#fault(`the outbox of notifications cannot be closed: ${messageOf(error)}`);
    }
    this.#transactor = undefined;
  }

  /** Reports the first of a series of faults. */
  #fault(message: string): void {
    if (!this.#isFaulty) this.#onFault(message);
    this.#isFaulty = true;
  }
}

/**
 * Returns what an outbox holds while a daemon may write it; undefined without one. Throws NOTIFICATIONS_INVALID on
 * another file or format, and NOTIFICATIONS_FAILED where it cannot be read.
 */
export function readOutbox(path: string): OutboxContent | undefined {
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (pragma(database, 'application_id') !== NOTIFICATIONS.applicationId
        || pragma(database, 'user_version') !== NOTIFICATIONS.migrations.length) {
      throw new GannetError('NOTIFICATIONS_INVALID', `${path}: expected an outbox of notifications of format ${
        NOTIFICATIONS.migrations.length}, found another file`, { details: { path } });
    }
    return contentOf(createTransactor(database, path, NOTIFICATIONS));
  } catch (cause) {
    throw openFault(path, NOTIFICATIONS, cause);
  } finally {
    database?.close();
  }
}

function contentOf({ prepare, read }: Transactor): OutboxContent & { readonly lastRun: LastRun | undefined } {
  return read(() => {
    const run = prepare('SELECT body FROM last_run').get();
    return {
      messages: prepare('SELECT body FROM messages ORDER BY rowid').all()
        .map(({ body }) => JSON.parse(String(body)) as QueuedMessage),
      channels: new Map(prepare('SELECT name, body FROM channels').all()
        .map(({ name, body }) => [String(name), JSON.parse(String(body)) as ChannelRecord])),
      lastRun: run === undefined ? undefined : JSON.parse(String(run['body'])) as LastRun,
    };
  });
}
