import type { DatabaseSync } from 'node:sqlite';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { CounterChain, CounterMark, CounterRow, RowKind } from './counter-chain.ts';
import { CHAIN_START, isSameTag } from './counter-chain.ts';

/** The input of a swap, or its costs. */
export type SpendKind = 'input' | 'cost';

/** One wallet's recent spending, in memory beside the counters, so that a sum needs no query. */
export interface SpendBook {
  /**
   * Reads and checks all rows where another process wrote, and where a clock set back brings earlier ones into the
   * window again. Called within a transaction. Throws COUNTERS_ALTERED where a row was changed, inserted, moved or
   * deleted.
   */
  catchUp(now: Millis): void;
  /** Returns the spending of bytes that were signed before. */
  known(messageHash: string): Pick<CounterRow, 'mint' | 'amount'> | undefined;
  /** Returns the sum of all spending after a time, the clock's future included. */
  since(kind: SpendKind, mint: string, after: Millis): bigint;
  /** Returns the time of the oldest spending after a time; undefined where there is none. */
  oldestAfter(kind: SpendKind, mint: string, after: Millis): Millis | undefined;
  /** The time from which on caps count as used, until their window has passed; undefined where no row is missing. */
  readonly fullAt: Millis | undefined;
  /** The tag of the last committed row. */
  readonly last: Buffer;
  /** The number of swaps in the rows, and of all rows; marks count among these only. */
  readonly size: { readonly rows: number; readonly spends: number };
  /** Returns whether a row, or the last forgotten one, has this tag. */
  holds(tag: Uint8Array): boolean;
  /** Writes rows. Called within a transaction; they count once it is committed. */
  append(rows: readonly CounterRow[]): void;
  mark(kind: CounterMark, at: Millis): void;
  committed(): void;
  /** After a failed transaction: the next `catchUp` reads everything again. */
  discard(): void;
  /** Deletes the leading rows before a time. Called within a transaction. */
  forgetBefore(at: Millis): void;
  /** Deletes all rows. Called within a transaction, only where an operator accepts that. */
  clear(): void;
}

const HOUR_MS: Millis = 3_600_000;
/** Kept in addition to the window, since a clock is sometimes set back a little. */
const MARGIN_MS: Millis = HOUR_MS;

/** Returns the empty book of a wallet over its counters, for windows of at most `windowMs`. */
export function createSpendBook(database: DatabaseSync, { wallet, windowMs, chain }: {
  readonly wallet: string; readonly windowMs: Millis; readonly chain: CounterChain;
}): SpendBook {
  const statements = prepareStatements(database);
  let booked = new Map<string, CounterRow>();
  /** The inputs of all rows, however old: the same bytes are counted once. */
  let inputs = new Map<string, Pick<CounterRow, 'mint' | 'amount'>>();
  let sums = new Map<string, RunningSums>();
  /** All spending after this time is in the book. */
  let from: Millis = Infinity;
  let readAt: unknown;
  let last = CHAIN_START;
  let isRead = false;
  let fullAt: Millis | undefined;
  let size = { rows: 0, spends: 0 };
  let written: CounterRow[] = [];
  let writtenLast: Buffer | undefined;

  function sumsOf(kind: SpendKind, mint: string): RunningSums {
    const key = `${kind} ${mint}`;
    const known = sums.get(key) ?? createRunningSums();
    sums.set(key, known);
    return known;
  }

  function enter(row: CounterRow): void {
    if (row.kind === 'full') fullAt = row.at;
    else if (row.kind === 'accepted') fullAt = undefined;
    if (row.kind === 'input') inputs.set(row.messageHash, row);
    if (!isSpend(row.kind) || row.at <= from) return;
    booked.set(`${row.messageHash} ${row.kind}`, row);
    sumsOf(row.kind, row.mint).add(row.at, row.amount);
  }

  function forgetUntil(limit: Millis): void {
    const kept = [...booked.values()].filter(({ at }) => at > limit).sort((a, b) => a.at - b.at);
    booked = new Map();
    sums = new Map();
    from = limit;
    kept.forEach(enter);
  }

  /** Passes each row with its tag, in their order, and checks all of them. Returns the last tag. */
  function walk(take: (row: CounterRow, tag: Buffer) => void): Buffer {
    let before: Buffer = anchorOf();
    for (const found of statements.all.iterate(wallet)) {
      const row = rowOf(found);
      const tag = Buffer.from(found['tag'] as Uint8Array);
      if (!isSameTag(tag, chain.tagOf(row, before))) throw altered(`row ${Number(found['number'])}`);
      take(row, tag);
      before = tag;
    }
    return before;
  }

  function anchorOf(): Buffer {
    const found = statements.anchor.get(wallet);
    if (found === undefined) return CHAIN_START;
    const anchor = Buffer.from(found['last'] as Uint8Array);
    if (!isSameTag(chain.anchorTag(anchor), found['tag'] as Uint8Array)) throw altered('the mark of forgotten rows');
    return anchor;
  }

  function holds(tag: Uint8Array): boolean {
    if (isSameTag(tag, anchorOf())) return true;
    return [...statements.tags.iterate(wallet)].some((row) => isSameTag(tag, row['tag'] as Uint8Array));
  }

  function readAll(): void {
    booked = new Map();
    inputs = new Map();
    sums = new Map();
    fullAt = undefined;
    size = { rows: 0, spends: 0 };
    let isKnownHeld = !isRead || isSameTag(anchorOf(), last);
    const end = walk((row, tag) => {
      isKnownHeld ||= isSameTag(tag, last);
      size = { rows: size.rows + 1, spends: size.spends + (row.kind === 'input' ? 1 : 0) };
      enter(row);
    });
    if (!isKnownHeld) throw altered('the last rows, which this signer wrote');
    last = end;
    isRead = true;
  }

  function append(rows: readonly CounterRow[]): void {
    for (const row of rows) {
      const tag = chain.tagOf(row, writtenLast ?? last);
      const { messageHash, kind, mint, amount, at } = row;
      statements.insert.run(wallet, messageHash, mint, kind, amount >> 32n, amount & 0xffff_ffffn, at, tag);
      writtenLast = tag;
      written.push(row);
    }
  }

  return {
    catchUp(now) {
      const begin = now - windowMs;
      if (begin - 2 * MARGIN_MS > from) forgetUntil(begin - MARGIN_MS);
      const version = statements.version.get()?.['data_version'];
      if (version === readAt && begin >= from) return;
      from = Math.min(from, begin - MARGIN_MS);
      readAll();
      readAt = version;
    },
    known: (messageHash) => inputs.get(messageHash),
    since: (kind, mint, limit) => sumsOf(kind, mint).after(limit),
    oldestAfter: (kind, mint, limit) => sumsOf(kind, mint).oldestAfter(limit),
    get fullAt() { return fullAt; },
    get last() { return last; },
    get size() { return size; },
    holds,
    append,
    mark(kind, at) {
      append([{ messageHash: `${kind} ${(writtenLast ?? last).toString('hex')}`, kind, mint: '', amount: 0n, at }]);
    },
    committed() {
      last = writtenLast ?? last;
      for (const row of written) enter(row);
      size = {
        rows: size.rows + written.length, spends: size.spends + written.filter(({ kind }) => kind === 'input').length,
      };
      [written, writtenLast] = [[], undefined];
    },
    discard() {
      [written, writtenLast, readAt] = [[], undefined, undefined];
    },
    forgetBefore(at) {
      const end = statements.firstSince.get(wallet, at)?.['number'] ?? Number.MAX_SAFE_INTEGER;
      const lastForgotten = statements.lastBefore.get(wallet, Number(end))?.['tag'] as Uint8Array | undefined;
      if (lastForgotten === undefined) return;
      statements.anchorAt.run(wallet, lastForgotten, chain.anchorTag(lastForgotten));
      statements.forget.run(wallet, Number(end));
    },
    clear() {
      statements.forget.run(wallet, Number.MAX_SAFE_INTEGER);
      statements.forgetAnchor.run(wallet);
      [last, isRead, size, fullAt, readAt] = [CHAIN_START, true, { rows: 0, spends: 0 }, undefined, undefined];
      [booked, inputs, sums] = [new Map(), new Map(), new Map()];
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const columns = 'number, message_hash, kind, mint, amount_high, amount_low, at, tag';
  return {
    version: database.prepare('PRAGMA data_version'),
    all: database.prepare(`SELECT ${columns} FROM spends WHERE wallet = ? ORDER BY number`),
    tags: database.prepare('SELECT tag FROM spends WHERE wallet = ?'),
    anchor: database.prepare('SELECT last, tag FROM anchors WHERE wallet = ?'),
    anchorAt: database.prepare('INSERT OR REPLACE INTO anchors (wallet, last, tag) VALUES (?, ?, ?)'),
    forgetAnchor: database.prepare('DELETE FROM anchors WHERE wallet = ?'),
    insert: database.prepare(
      `INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at, tag)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    firstSince: database.prepare('SELECT min(number) AS number FROM spends WHERE wallet = ? AND at >= ?'),
    lastBefore: database.prepare('SELECT tag FROM spends WHERE wallet = ? AND number < ? ORDER BY number DESC LIMIT 1'),
    forget: database.prepare('DELETE FROM spends WHERE wallet = ? AND number < ?'),
  };
}

function altered(what: string): GannetError {
  return new GannetError('COUNTERS_ALTERED', `the signer’s counters were altered by another program (${what}): nothing `
    + 'is signed. Restore the signer’s folder from a copy, or start once with --accept-new-counters where you know '
    + 'what was spent');
}

function isSpend(kind: RowKind): kind is SpendKind {
  return kind === 'input' || kind === 'cost';
}

/** Returns a row of the counters. */
export function rowOf(row: Readonly<Record<string, unknown>>): CounterRow {
  return {
    messageHash: String(row['message_hash']), kind: String(row['kind']) as RowKind,
    mint: String(row['mint']), amount: amountOf(row), at: Number(row['at']),
  };
}

function amountOf(row: Readonly<Record<string, unknown>>): bigint {
  return (BigInt(Number(row['amount_high'])) << 32n) + BigInt(Number(row['amount_low']));
}

/** The part of a book that counting needs. */
export type CountingBook = Pick<
  SpendBook,
  'catchUp' | 'known' | 'since' | 'oldestAfter' | 'fullAt' | 'append' | 'committed' | 'discard' | 'forgetBefore'
>;

/** Returns an empty book in memory alone, for a wallet and a chain that end with the process. */
export function createPassingBook(): CountingBook {
  let rows: CounterRow[] = [];
  let inputs = new Map<string, CounterRow>();
  let sums = new Map<string, RunningSums>();
  let written: CounterRow[] = [];

  function sumsOf(kind: RowKind, mint: string): RunningSums {
    const key = `${kind} ${mint}`;
    const known = sums.get(key) ?? createRunningSums();
    sums.set(key, known);
    return known;
  }

  function enter(row: CounterRow): void {
    rows.push(row);
    if (row.kind === 'input') inputs.set(row.messageHash, row);
    sumsOf(row.kind, row.mint).add(row.at, row.amount);
  }

  return {
    fullAt: undefined,
    // No other process writes, and rows stay for all windows.
    catchUp: () => undefined,
    known: (messageHash) => inputs.get(messageHash),
    since: (kind, mint, after) => sumsOf(kind, mint).after(after),
    oldestAfter: (kind, mint, after) => sumsOf(kind, mint).oldestAfter(after),
    append: (added) => { written.push(...added); },
    committed() {
      written.forEach(enter);
      written = [];
    },
    discard() {
      written = [];
    },
    forgetBefore(at) {
      const first = rows.findIndex((row) => row.at >= at);
      if (first === 0) return;
      const kept = first < 0 ? [] : rows.slice(first);
      [rows, inputs, sums] = [[], new Map(), new Map()];
      kept.forEach(enter);
    },
  };
}

interface RunningSums {
  add(at: Millis, amount: bigint): void;
  after(limit: Millis): bigint;
  oldestAfter(limit: Millis): Millis | undefined;
}

/** Amounts by time, each with the sum up to it; the newest usually comes last. */
function createRunningSums(): RunningSums {
  const times: Millis[] = [];
  const upTo: bigint[] = [];

  /** The number of amounts up to a time. */
  function countUntil(limit: Millis): number {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[middle]! <= limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(at, amount) {
      const place = countUntil(at);
      times.splice(place, 0, at);
      upTo.splice(place, 0, upTo[place - 1] ?? 0n);
      for (let index = place; index < upTo.length; index++) upTo[index] = upTo[index]! + amount;
    },
    oldestAfter: (limit) => times[countUntil(limit)],
    after: (limit) => (upTo.at(-1) ?? 0n) - (upTo[countUntil(limit) - 1] ?? 0n),
  };
}
