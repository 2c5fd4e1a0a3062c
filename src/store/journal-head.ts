import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { GannetError } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Prepare } from './database.ts';

/** How far a journal goes: the most that any of its copies can hold. */
export interface JournalPosition {
  /** Rows of intents, attempts, transitions, adjustments and runs together; none is ever deleted. */
  readonly rows: number;
  /** The time of the last saved state; 0 before the first one. */
  readonly savedAt: Millis;
}

/** The file beside a journal that notes how far it went, so that a lost WAL or an older copy is noticed. */
interface JournalHead {
  /** The position at opening; undefined where there was no head. */
  readonly before: JournalPosition | undefined;
  /** When an operator last accepted the journal as complete; 0 where that never happened. */
  readonly acceptedAt: Millis;
  /**
   * Whether rows were written into a journal that was behind its head: the positions can then no longer be compared.
   */
  readonly isDiverged: boolean;
  /** Notes how far the journal goes now. Throws the fault of the disk. */
  write(position: JournalPosition, options?: {
    readonly acceptedAt?: Millis | undefined; readonly isDiverged?: boolean | undefined;
  }): void;
  close(): void;
}

/** No row of these tables is ever deleted, so their last numbers only grow. */
const POSITION = `
SELECT (SELECT coalesce(max(number), 0) FROM intents) + (SELECT coalesce(max(rowid), 0) FROM attempts)
  + (SELECT coalesce(max(number), 0) FROM transitions) + (SELECT coalesce(max(number), 0) FROM adjustments)
  + (SELECT coalesce(max(rowid), 0) FROM runs) AS number,
  (SELECT coalesce(max(saved_at), 0) FROM snapshot) AS saved_at`;

/** Returns how far the journal goes. */
export function positionOf(prepare: Prepare): JournalPosition {
  const row = prepare(POSITION).get();
  return { rows: Number(row?.['number']), savedAt: Number(row?.['saved_at']) };
}

/** Returns how far a journal went once, where the file does not go as far; undefined for a complete file. */
export function lackingEnd(
  { before, isDiverged }: Pick<JournalHead, 'before' | 'isDiverged'>, file: JournalPosition,
): JournalPosition | undefined {
  return before !== undefined && (isDiverged || isBehindHead(file, before)) ? before : undefined;
}

/** Returns whether a journal does not go as far as its head says. */
export function isBehindHead(file: JournalPosition, head: JournalPosition): boolean {
  return file.rows < head.rows || (file.rows === head.rows && file.savedAt < head.savedAt);
}

/** Returns whether nothing was ever written into a journal. */
export function isEmpty({ rows, savedAt }: JournalPosition): boolean {
  return rows === 0 && savedAt === 0;
}

const FORMAT = 1;
const HEAD = z.object({
  format_version: z.number(), rows: z.int().min(0), saved_at: z.number(), accepted_at: z.number(),
  diverged: z.boolean(),
});
/** Each write has the same length at the same place, so that no part of an older one is left behind it. */
const BYTES = 128;

/** Returns the path of a journal's head. */
export function headPath(journalPath: string): string {
  return `${journalPath}.head`;
}

/**
 * Opens the head of a journal. It is written after the journal and is not synced: after a power failure it never claims
 * more than the journal holds. Throws JOURNAL_INVALID on a newer format; an unreadable head counts as missing.
 */
export function openJournalHead(journalPath: string): JournalHead {
  const path = headPath(journalPath);
  const found = readHead(path);
  let acceptedAt = found?.accepted_at ?? 0;
  let descriptor: number | undefined;
  return {
    before: found === undefined ? undefined : { rows: found.rows, savedAt: found.saved_at },
    isDiverged: found?.diverged ?? false,
    get acceptedAt() { return acceptedAt; },
    write({ rows, savedAt }, options = {}) {
      acceptedAt = options.acceptedAt ?? acceptedAt;
      const text = stringifyJson({
        format_version: FORMAT, rows, saved_at: savedAt, accepted_at: acceptedAt, diverged: options.isDiverged ?? false,
      });
      descriptor ??= openToWrite(path);
      writeSync(descriptor, `${text.padEnd(BYTES - 1)}\n`, 0);
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function readHead(path: string): z.infer<typeof HEAD> | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new GannetError(
      'JOURNAL_FAILED', `${path} cannot be read; check the file and its permissions`, { details: { path }, cause },
    );
  }
  const head = HEAD.safeParse(jsonOf(text)).data;
  if (head === undefined || head.format_version === FORMAT) return head;
  throw new GannetError('JOURNAL_INVALID',
    `${path} has format ${head.format_version}; this Gannet reads format ${FORMAT}`, {
      details: { path, found: head.format_version, expected: FORMAT },
    });
}

/** A power failure can leave a file of any content. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Opens the file in place, so that its content remains until it is overwritten. */
function openToWrite(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
    return openSync(path, 'w', 0o600);
  }
}

/** Notes how far a journal goes, after each commit. */
interface HeadKeeper {
  /**
   * How far the journal went once where the file does not go as far. It stays noted until an operator accepts the file.
   */
  readonly writtenTo: JournalPosition | undefined;
  note(): void;
  /** Accepts the file as complete. */
  accept(at: Millis): void;
}

/** Returns the keeper of an open journal's head. `onFault` is called once for each series of failed writes. */
export function createHeadKeeper(
  head: JournalHead, prepare: Prepare, onFault: ((error: unknown) => void) | undefined,
): HeadKeeper {
  let writtenTo = lackingEnd(head, positionOf(prepare));
  let isFaulty = false;
  const note = (acceptedAt?: Millis): void => {
    try {
      if (writtenTo === undefined) head.write(positionOf(prepare), { acceptedAt });
      else head.write(writtenTo, { isDiverged: true });
      isFaulty = false;
    } catch (error) {
      // The commit itself is on disk, with or without the note.
      if (!isFaulty) onFault?.(error);
      isFaulty = true;
    }
  };
  return {
    get writtenTo() { return writtenTo; },
    note: () => { note(); },
    accept: (at) => {
      writtenTo = undefined;
      note(at);
    },
  };
}
