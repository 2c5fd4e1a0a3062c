import { existsSync, renameSync } from 'node:fs';
import { isGannetError } from '../core/errors.ts';
import type { DatabaseKind, Transactor } from './database.ts';
import { createTransactor, openDatabase } from './database.ts';

// Files without which trading goes on.

/**
 * Opens a file of a kind. A broken one is set aside, with a word about its new place, and another one begins. A power
 * failure may cost the last changes, a killed process none: nothing waits for the disk to sync. Throws as
 * `openDatabase` does, also for a file of a newer version, which is left as it is.
 */
export function openSpareDatabase(path: string, kind: DatabaseKind, onSetAside: (aside: string) => void): Transactor {
  try {
    return openedAt(path, kind);
  } catch (error) {
    if (!isBroken(error, kind)) throw error;
    const aside = `${path}.broken`;
    for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) renameSync(path + end, aside + end);
    const opened = openedAt(path, kind);
    onSetAside(aside);
    return opened;
  }
}

function openedAt(path: string, kind: DatabaseKind): Transactor {
  const database = openDatabase(path, kind);
  database.exec('PRAGMA synchronous = NORMAL');
  return createTransactor(database, path, kind);
}

/** SQLite's codes for "malformed" and "not a database". */
const BROKEN = new Set([11, 26]);

/** Returns whether an error says that the content of a file is broken, of JSON in it too. */
export function isBroken(error: unknown, kind: DatabaseKind): boolean {
  if (!(error instanceof Error)) return false;
  // Of a newer version, it is whole.
  if (isGannetError(error) && error.details['readable_since'] !== undefined) return false;
  if (error instanceof SyntaxError || ('code' in error && error.code === kind.codes.invalid)) return true;
  if ('errcode' in error && BROKEN.has(Number(error.errcode) & 0xff)) return true;
  return isBroken(error.cause, kind);
}
