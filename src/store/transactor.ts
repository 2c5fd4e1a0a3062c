import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { AssertionError } from '../core/assert.ts';
import { GannetError, messageOf } from '../core/errors.ts';
import type { DatabaseKind } from './database.ts';

/** A part of a database works on rows through this, within somebody's transaction. */
export type Prepare = (sql: string) => StatementSync;

/** Whole pieces of work on one database: each is on disk when it returns, or nothing of it is. */
export interface Transactor {
  /** Returns a statement; the same one for the same text. */
  readonly prepare: Prepare;
  /**
   * Throws the kind's code for a failure where the disk does not take it, and asserts what rows that contradict each
   * other show.
   */
  readonly commit: (work: () => void) => void;
  /** Answers that belong together. */
  readonly read: <T>(work: () => T) => T;
  /** Copies what stands in the WAL into the main file, as far as no reader is in the way. Throws as `commit` does. */
  readonly checkpoint: () => void;
  readonly close: () => void;
}

/** SQLite's own number for a violated constraint. */
const SQLITE_CONSTRAINT = 19;
/** And that somebody else writes, or holds the file for longer than anybody waits. */
const SQLITE_BUSY = 5;

/** Returns what carries out work on a database; `path` is for messages. */
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
      // SQLite has rolled back by itself after some faults of the disk.
      if (database.isOpen && database.isTransaction) prepare('ROLLBACK').run();
      throw fault(cause);
    }
  }

  function fault(cause: unknown): unknown {
    const number = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;
    if (number === undefined) return cause;
    if (number === SQLITE_CONSTRAINT)
      return new AssertionError(`the ${name} was told something twice or out of order: ${messageOf(cause)}`);
    return new GannetError(codes.failed,
      `${path}: expected the row to be written, got: ${messageOf(cause)}; ${number === SQLITE_BUSY ? 'another process holds the file: end that one, or try again' : 'check the disk\'s space and health'}`,
      {
        details: { path }, cause,
      });
  }

  return {
    prepare,
    // Immediate, so that no other writer comes between what is read and what is written.
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
