import { chmodSync, closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { BUSY_TIMEOUT_MS } from './database.ts';
import { headPath, openJournalHead, positionOf } from './journal-head.ts';

/** A copied file of a state directory. */
interface CopiedFile {
  readonly file: string;
  readonly bytes: number;
}

/** More pages than any file has: one step copies a single state, whatever other processes write meanwhile. */
const ALL_PAGES = 0x7fff_ffff;

/**
 * Copies a single state of a SQLite file, its WAL included, while other processes may write it. The copy is verified
 * and synced when this resolves. Resolves with undefined without such a file, and for one that another process has just
 * created and not begun to fill. Rejects with JOURNAL_FAILED, and with JOURNAL_INVALID for an incomplete copy.
 */
export async function copyDatabase(from: string, to: string): Promise<CopiedFile | undefined> {
  if (!existsSync(from)) return undefined;
  if (existsSync(to)) throw new GannetError('USAGE', `${to} exists already: name an empty folder with --out`);
  let source: DatabaseSync | undefined;
  try {
    source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (isUnbegun(source)) return undefined;
    // Created here with a private mode.
    closeSync(openSync(to, 'wx', 0o600));
    await backup(source, to, { rate: ALL_PAGES });
    verify(source, to);
    sync(to);
    return { file: basename(to), bytes: statSync(to).size };
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw new GannetError(
      'JOURNAL_FAILED',
      `${from} cannot be copied to ${to}: ${messageOf(cause)}; check both folders and the room on the disk`,
      { details: { path: from }, cause },
    );
  } finally {
    source?.close();
  }
}

/**
 * Copies a journal, and notes beside the copy that the journal continues after it. A start with the copy in place of
 * the journal is refused until an operator accepts that later swaps are unknown to it.
 */
export async function copyJournal(from: string, to: string): Promise<readonly CopiedFile[]> {
  const copied = await copyDatabase(from, to);
  if (copied === undefined) return [];
  const copy = new DatabaseSync(to, { readOnly: true });
  const head = openJournalHead(to);
  try {
    const { rows, savedAt } = positionOf((sql) => copy.prepare(sql));
    head.write({ rows: rows + 1, savedAt });
  } finally {
    head.close();
    copy.close();
  }
  return [copied, { file: basename(headPath(to)), bytes: statSync(headPath(to)).size }];
}

function isUnbegun(database: DatabaseSync): boolean {
  return kindOf(database) === 0
    && Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables']) === 0;
}

function kindOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA application_id').get()?.['application_id']);
}

/** A copy is one file, so it leaves WAL mode, which creates files beside it. */
function verify(source: DatabaseSync, to: string): void {
  const copy = new DatabaseSync(to);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
    const check = copy.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'];
    if (check !== 'ok' || kindOf(source) !== kindOf(copy)) {
      throw new GannetError(
        'JOURNAL_INVALID',
        `the copy ${to} is not whole (${String(check)}): keep the files of the state directory, and try again`,
        { details: { path: to } },
      );
    }
  } finally {
    copy.close();
  }
  chmodSync(to, 0o600);
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
