import { chmodSync, closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { BUSY_TIMEOUT_MS } from './database.ts';
import { headPath, openJournalHead, positionOf } from './journal-head.ts';

/** A copied file of a state directory. */
export interface CopiedFile {
  readonly file: string;
  readonly bytes: number;
}

/** More pages than any file has: one step copies a single state, whatever other processes write meanwhile. */
const ALL_PAGES = 0x7fff_ffff;

/**
 * Copies a SQLite file that other processes may be writing, its WAL included, as of one moment; what came of it is
 * checked and on disk when this resolves. Undefined where there is no such file. Throws JOURNAL_FAILED, and
 * JOURNAL_INVALID where the copy is not whole.
 */
export async function copyDatabase(from: string, to: string): Promise<CopiedFile | undefined> {
  if (!existsSync(from)) return undefined;
  if (existsSync(to)) throw new GannetError('USAGE', `${to} exists already: name an empty folder with --out`);
  let source: DatabaseSync | undefined;
  try {
    source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
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
 * Does the same with a journal, and notes beside the copy that the journal goes on after it: a start with the copy in
 * the journal's place is refused until an operator accepts that swaps made later are unknown to it.
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

/** Opening it in WAL mode would leave files beside the copy: a copy is one file. */
function verify(source: DatabaseSync, to: string): void {
  const copy = new DatabaseSync(to);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
    const check = copy.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'];
    const kinds = [source, copy]
      .map((database) => Number(database.prepare('PRAGMA application_id').get()?.['application_id']));
    if (check !== 'ok' || kinds[0] !== kinds[1]) {
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
