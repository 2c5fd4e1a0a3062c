import type { KeyObject } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { CounterMark, CounterRow } from './counter-chain.ts';
import { CHAIN_START, createCounterChain, isSameTag, openCounterHead } from './counter-chain.ts';
import type { KeptFiles } from './kept-files.ts';
import { createKeptFiles } from './kept-files.ts';
import type { CountingBook, SpendBook } from './spend-book.ts';
import { createPassingBook, createSpendBook, rowOf } from './spend-book.ts';
import { countedSwaps, countersFiles, openCounters, openCountersToRead } from './spend-counters.ts';

/** The files of one wallet's counters and what they prove. */
interface OpenBook {
  readonly book: CountingBook;
  readonly kept: KeptFiles;
  /** Whether there were no counters of this format, so that the chain must say what was spent before. */
  readonly isUnproven: boolean;
  /** Whether an operator accepted missing or altered rows at this opening. */
  readonly isAccepted: boolean;
  /** Begins the counters, with the number of signatures of the wallet that the chain shows within the window. */
  prove(ownSignatures: number): void;
  /** Runs one transaction. Its rows are on disk, and count, where the result is ok. Throws what the disk throws. */
  transact<Result extends { readonly ok: boolean }>(act: () => Result): Result;
  /** Returns the number of swaps that were signed after a time; the counters keep 30 days. */
  signedSince(at: Millis): number;
  close(): void;
}

interface BookOptions {
  /** Undefined where wallet and chain end with the process. */
  readonly folder: string | undefined;
  readonly wallet: string;
  /** Derived from the wallet's key. */
  readonly key: KeyObject;
  readonly clock: Pick<Clock, 'now'>;
  readonly windowMs: Millis;
  /** An operator accepts the counters as they are. */
  readonly acceptNew: boolean;
  /** Whether the counters are read as they are, and nothing is written. */
  readonly onlyReads: boolean;
}

/**
 * Opens the counters of a wallet. Where rows are missing, a mark in the counters says that every cap counts as used
 * until the window has passed, also after a restart. Throws COUNTERS_ALTERED, JOURNAL_INVALID or JOURNAL_FAILED.
 */
export function openBook(options: BookOptions): OpenBook {
  const { folder, onlyReads } = options;
  if (folder === undefined) return passingBook();
  return onlyReads ? readBook({ ...options, folder }) : keptBook({ ...options, folder });
}

/**
 * Returns the counters as the next opening would find them, without a change of any file. Rows that an opening would
 * mark, or take over from the earlier format, are marked in memory alone.
 */
function readBook({ folder, wallet, key, clock, windowMs, acceptNew }: BookOptions & {
  readonly folder: string;
}): OpenBook {
  const database = openCountersToRead(folder);
  const head = openCounterHead(folder, wallet);
  const book: CountingBook & Partial<SpendBook> = database === undefined ? createPassingBook()
    : createSpendBook(database, { wallet, windowMs, chain: createCounterChain(key, wallet) });
  let fullAt: Millis | undefined;
  let isUnproven = false;
  try {
    book.catchUp(clock.now());
    const isEmpty = book.last === undefined || isSameTag(book.last, CHAIN_START);
    const isMissing = head.before === undefined || isEmpty || !book.holds!(head.before);
    if (isMissing && !acceptNew) {
      if (mayBeFirst(head.before, { spends: book.size?.spends ?? 0, fullAt: book.fullAt })) isUnproven = true;
      else fullAt = clock.now();
    }
  } catch (error) {
    database?.close();
    throw error;
  }
  return {
    book: {
      ...book, catchUp: (now) => { book.catchUp(now); },
      get fullAt() { return acceptNew ? undefined : fullAt ?? book.fullAt; },
    },
    kept: createKeptFiles(), isAccepted: false,
    get isUnproven() { return isUnproven; },
    prove(ownSignatures) {
      if (isUnproven && ownSignatures > 0) fullAt = clock.now();
      isUnproven = false;
    },
    transact: () => { throw new GannetError('JOURNAL_FAILED', 'counters that were opened to be read count nothing'); },
    signedSince: (at) => (database === undefined ? 0 : countedSwaps(database, wallet, at).inDay),
    close: () => { database?.close(); },
  };
}

function passingBook(): OpenBook {
  const book = createPassingBook();
  return {
    book, kept: createKeptFiles(), isUnproven: false, isAccepted: false, prove: () => undefined,
    transact(act) {
      const result = act();
      book.committed();
      return result;
    },
    // Only counters that outlive the process are described.
    signedSince: () => 0,
    close: () => undefined,
  };
}

function keptBook({ folder, wallet, key, clock, windowMs, acceptNew }: BookOptions & {
  readonly folder: string;
}): OpenBook {
  const database = openCounters(folder);
  const head = openCounterHead(folder, wallet);
  const book = createSpendBook(database, { wallet, windowMs, chain: createCounterChain(key, wallet) });
  let isUnproven = false;
  let isAccepted = false;
  const mark = (kind: CounterMark): void => { book.mark(kind, clock.now()); };
  const noteLast = (): void => { head.write(book.last); };

  /** Runs one transaction, and notes its last row once it is committed. */
  function write(act: () => void): void {
    database.exec('BEGIN IMMEDIATE');
    try {
      act();
      database.exec('COMMIT');
    } catch (error) {
      book.discard();
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    book.committed();
    if (!isUnproven) noteLast();
  }

  function settle(): void {
    const isWhole = readRows(book, { now: clock.now(), acceptNew });
    const isEmpty = isSameTag(book.last, CHAIN_START);
    const isMissing = isWhole && (head.before === undefined || isEmpty || !book.holds(head.before));
    if (acceptNew) {
      if (isEmpty) takeEarlier(database, book, wallet);
      isAccepted = !isWhole || isMissing || book.fullAt !== undefined;
      if (isAccepted) mark('accepted');
    } else if (isMissing) {
      if (mayBeFirst(head.before, { spends: book.size.spends, fullAt: book.fullAt })) isUnproven = true;
      else mark('full');
    }
  }

  try {
    write(settle);
  } catch (cause) {
    head.close();
    database.close();
    if (isGannetError(cause)) throw cause;
    throw new GannetError('JOURNAL_FAILED',
      `the signer's counters in ${folder} cannot be read or written: ${printable(messageOf(cause))}`, { cause });
  }
  const kept = createKeptFiles();
  for (const file of countersFiles(folder)) kept.add(file);
  const statements = prepareStatements(database);
  kept.add({ name: 'the head of the signer’s counters', path: head.path });
  return {
    book, kept, isAccepted,
    signedSince: (at) => Number(statements.signedSince.get(wallet, at)?.['number']),
    transact(act) {
      try {
        statements.begin.run();
        const result = act();
        statements[result.ok ? 'commit' : 'rollback'].run();
        book.committed();
        if (result.ok) noteLast();
        return result;
      } catch (error) {
        book.discard();
        // SQLite itself rolls back on some faults.
        if (database.isTransaction) statements.rollback.run();
        throw error;
      }
    },
    get isUnproven() { return isUnproven; },
    prove(ownSignatures) {
      if (!isUnproven) return;
      write(() => {
        const earlier = takeEarlier(database, book, wallet);
        const recent = earlier.filter(({ kind, at }) => kind === 'input' && at > clock.now() - windowMs).length;
        mark(ownSignatures > recent ? 'full' : earlier.length > 0 ? 'adopted' : 'begun');
        isUnproven = false;
      });
    },
    close() {
      head.close();
      database.close();
    },
  };
}

/** Without a second file, and without a swap in the first one, this may be the first start. */
function mayBeFirst(head: Buffer | undefined, { spends, fullAt }: {
  readonly spends: number; readonly fullAt: Millis | undefined;
}): boolean {
  return head === undefined && spends === 0 && fullAt === undefined;
}

function prepareStatements(database: DatabaseSync) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    signedSince: database.prepare(
      `SELECT count(*) AS number FROM spends
      WHERE wallet = ? AND kind = 'input' AND (amount_high > 0 OR amount_low > 0) AND at > ?`,
    ),
  };
}

/** Returns whether the rows are whole. Altered ones are deleted where an operator accepts that, else this throws. */
function readRows(book: SpendBook, { now, acceptNew }: { readonly now: Millis; readonly acceptNew: boolean }): boolean {
  try {
    book.catchUp(now);
    return true;
  } catch (error) {
    if (!acceptNew || !isGannetError(error) || error.code !== 'COUNTERS_ALTERED') throw error;
    book.clear();
    return false;
  }
}

/**
 * Takes the rows of the earlier format over, once. They count, but their bytes are not recognised as signed before:
 * those rows were not authenticated.
 */
function takeEarlier(database: DatabaseSync, book: SpendBook, wallet: string): readonly CounterRow[] {
  const isThere = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'earlier_spends'`).get() !== undefined;
  if (!isThere) return [];
  const rows = database.prepare('SELECT * FROM earlier_spends WHERE wallet = ? ORDER BY number').all(wallet)
    .map((row): CounterRow => ({ ...rowOf(row), messageHash: `earlier ${String(row['message_hash'])}` }))
    .filter(({ kind }) => kind === 'input' || kind === 'cost');
  book.append(rows);
  database.prepare('DELETE FROM earlier_spends WHERE wallet = ?').run(wallet);
  return rows;
}
