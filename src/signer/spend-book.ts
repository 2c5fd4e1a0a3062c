import type { DatabaseSync } from 'node:sqlite';
import type { Millis } from '../core/time.ts';

/** Whether an amount is what a swap spends, or what it costs beside. */
export type SpendKind = 'input' | 'cost';

/** One line of the counters. */
export interface BookedSpend {
  readonly messageHash: string;
  readonly kind: SpendKind;
  readonly mint: string;
  /** Smallest units. */
  readonly amount: bigint;
  readonly at: Millis;
}

/** What one wallet signed away of late, in memory beside the counters, so that a sum costs a search and no reading. */
export interface SpendBook {
  /** Takes in what others have written, and what a clock that was set back brings into the window again. Called within a transaction. */
  catchUp(now: Millis): void;
  /** Returns what bytes were signed for, if they were of late. */
  known(messageHash: string): Pick<BookedSpend, 'mint' | 'amount'> | undefined;
  /** Returns the sum of all that was booked after a time, the clock's future included. */
  since(kind: SpendKind, mint: string, after: Millis): bigint;
  /** Returns when the first of all that was booked after a time was booked; undefined where nothing was. */
  oldestAfter(kind: SpendKind, mint: string, after: Millis): Millis | undefined;
  /** Books what is committed. */
  enter(spends: readonly BookedSpend[]): void;
  /** Has the next `catchUp` read everything again: whether the last write is on disk nobody knows. */
  doubt(): void;
}

const HOUR_MS: Millis = 3_600_000;
/** A clock is set back by a little now and then: so much more than the window is kept at hand. */
const MARGIN_MS: Millis = HOUR_MS;

/**
 * Returns the book of a wallet over its counters, for windows of at most `windowMs`. What is booked stays so while its
 * window lasts: lines that somebody takes out of the file, or makes smaller, count until the process ends.
 */
export function createSpendBook(database: DatabaseSync, { wallet, windowMs }: { readonly wallet: string; readonly windowMs: Millis }): SpendBook {
  const version = database.prepare('PRAGMA data_version');
  const after = database.prepare('SELECT message_hash, kind, mint, amount_high, amount_low, at FROM spends WHERE wallet = ? AND at > ?');
  let booked = new Map<string, BookedSpend>();
  let sums = new Map<string, RunningSums>();
  /** Everything after this is booked. */
  let from: Millis = Infinity;
  let readAt: unknown;

  function sumsOf(kind: SpendKind, mint: string): RunningSums {
    const key = `${kind} ${mint}`;
    const known = sums.get(key) ?? createRunningSums();
    sums.set(key, known);
    return known;
  }

  function enter(spend: BookedSpend): void {
    const key = `${spend.messageHash} ${spend.kind}`;
    const before = booked.get(key)?.amount ?? 0n;
    if (before >= spend.amount) return;
    booked.set(key, spend);
    sumsOf(spend.kind, spend.mint).add(spend.at, spend.amount - before);
  }

  function forgetUntil(limit: Millis): void {
    const kept = [...booked.values()].filter(({ at }) => at > limit).sort((a, b) => a.at - b.at);
    booked = new Map();
    sums = new Map();
    kept.forEach(enter);
    from = limit;
  }

  return {
    catchUp(now) {
      const begin = now - windowMs;
      if (begin - 2 * MARGIN_MS > from) forgetUntil(begin - MARGIN_MS);
      const written = version.get()?.['data_version'];
      if (written === readAt && begin >= from) return;
      from = Math.min(from, begin - MARGIN_MS);
      for (const row of after.all(wallet, from)) enter(spendOf(row));
      readAt = written;
    },
    known: (messageHash) => booked.get(`${messageHash} input`),
    since: (kind, mint, limit) => sumsOf(kind, mint).after(limit),
    oldestAfter: (kind, mint, limit) => sumsOf(kind, mint).oldestAfter(limit),
    enter: (spends) => { spends.forEach(enter); },
    doubt: () => { readAt = undefined; },
  };
}

function spendOf(row: Readonly<Record<string, unknown>>): BookedSpend {
  return {
    messageHash: String(row['message_hash']), kind: row['kind'] === 'cost' ? 'cost' : 'input', mint: String(row['mint']), amount: amountOf(row), at: Number(row['at']),
  };
}

/** Returns the amount of a line of the counters. */
export function amountOf(row: Readonly<Record<string, unknown>>): bigint {
  return (BigInt(Number(row['amount_high'])) << 32n) + BigInt(Number(row['amount_low']));
}

interface RunningSums {
  add(at: Millis, amount: bigint): void;
  after(limit: Millis): bigint;
  oldestAfter(limit: Millis): Millis | undefined;
}

/** Amounts by time, each with the sum up to it; almost always the newest one comes last. */
function createRunningSums(): RunningSums {
  const times: Millis[] = [];
  const upTo: bigint[] = [];

  /** How many are not after a time. */
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
