import type { DatabaseSync } from 'node:sqlite';
import { formatDecimal } from '../core/amount.ts';
import { messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SignerCode } from './policy/codes.ts';
import type { BookedSpend, SpendBook, SpendKind } from './spend-counters.ts';
import { amountOf, countersFiles, createSpendBook, openCounters, openPassingCounters } from './spend-counters.ts';
import { createKeptFiles, type KeptFiles } from './kept-files.ts';
import { NATIVE_MINT } from '../solana/constants.ts';

/** The limits of one mint, smallest units; undefined for no limit. */
export interface Cap {
  readonly perTrade?: bigint | undefined;
  readonly perHour?: bigint | undefined;
  readonly perDay?: bigint | undefined;
  /** For messages. */
  readonly name: string;
  readonly decimals: number;
}

/** The spending of one signature. */
interface Spend {
  /** Of the signed bytes, hex: the same bytes are counted once. */
  readonly messageHash: string;
  readonly mint: string;
  readonly amount: bigint;
  /** Further costs of the wallet: fees, tips, and rent that may not come back. */
  readonly costLamports: bigint;
}

/** The limits on one signature. */
export interface CapsInForce {
  /** Of the input; undefined for no limit. */
  readonly input: Cap | undefined;
  /** Lamports of a day, of SOL as an input and of costs together. */
  readonly solPerDay: bigint | undefined;
  /** Lamports of a day, of costs alone. */
  readonly costPerDay: bigint | undefined;
}

/** The part of a cap of the input that is left, in smallest units, and the time from which on more is. */
export interface CapRoom {
  readonly span: 'hour' | 'day';
  readonly left: bigint;
  readonly freeAt: number;
}

type Counted = { readonly ok: true }
  | { readonly ok: false; readonly code: SignerCode; readonly message: string; readonly room?: CapRoom | undefined };

/** The durable count of one wallet's spending. */
interface SpendingCaps {
  /** Counts a spend where the caps leave room for it; it is on disk when this returns. Never throws. */
  count(spend: Spend, caps: CapsInForce): Counted;
  /** Returns the number of swaps that were signed after a time; the counters keep 30 days. */
  signedSince(at: Millis): number;
  close(): void;
}

const HOUR_MS: Millis = 3_600_000;
const DAY_MS: Millis = 24 * HOUR_MS;
/** Far longer than any window, so that a clock that was wrong for days loses no counted spending. */
const KEPT_MS: Millis = 30 * DAY_MS;
const OK: Counted = { ok: true };

type Span = 'perTrade' | 'perHour' | 'perDay';

const EXCEEDED: Readonly<Record<Span, { readonly code: SignerCode; readonly words: string }>> = {
  perTrade: { code: 'CAP_EXCEEDED_TRADE', words: 'a trade' },
  perHour: { code: 'CAP_EXCEEDED_HOUR', words: 'an hour' },
  perDay: { code: 'CAP_EXCEEDED_DAY', words: 'a day' },
};

/**
 * Opens the counters of a wallet in a state directory. The windows slide: an hour is the last 60 minutes by the clock.
 * Spending in the clock's future counts as of now, so that a clock set back frees nothing. A clock that jumps forward
 * ages everything: that cannot be told from time that passed. Spending is never given back, whether its swap landed,
 * failed or expired, since the caller is not trusted. Spending by a second process on the same file counts. Throws
 * JOURNAL_INVALID or JOURNAL_FAILED.
 */
export function openSpendingCaps({ stateDir, wallet, clock }: {
  /** Undefined where wallet and chain end with the process. */
  readonly stateDir: string | undefined; readonly wallet: string; readonly clock: Pick<Clock, 'now'>;
}): SpendingCaps {
  const database = stateDir === undefined ? openPassingCounters() : openCounters(stateDir);
  const book = createSpendBook(database, { wallet, windowMs: DAY_MS });
  const statements = prepareStatements(database);
  let tidiedAt: Millis = -Infinity;
  book.catchUp(clock.now());
  const kept = createKeptFiles();
  if (stateDir !== undefined) for (const file of countersFiles(stateDir)) kept.add(file);

  /** Writes a spend where the caps leave room for it, and returns the written rows. Runs within one transaction. */
  function countIn(
    spend: Spend, caps: CapsInForce, now: Millis,
  ): { readonly counted: Counted; readonly written: readonly BookedSpend[] } {
    book.catchUp(now);
    const known = book.known(spend.messageHash) ?? signedBefore(spend.messageHash);
    if (known !== undefined) return { counted: countedBefore(spend, known), written: [] };
    const fault = faultOf(spend, caps, windowsOf(book, now));
    if (fault !== undefined) return { counted: fault, written: [] };
    const written = rowsOf(spend, now);
    for (const { mint, kind, amount } of written)
      statements.insert.run(wallet, spend.messageHash, mint, kind, amount >> 32n, amount & 0xffff_ffffn, now);
    if (Math.abs(now - tidiedAt) > HOUR_MS) {
      statements.forget.run(now - KEPT_MS);
      tidiedAt = now;
    }
    return { counted: OK, written };
  }

  function signedBefore(messageHash: string): { readonly mint: string; readonly amount: bigint } | undefined {
    const row = statements.known.get(wallet, messageHash);
    return row === undefined ? undefined : { mint: String(row['mint']), amount: amountOf(row) };
  }

  return {
    signedSince: (at) => Number(statements.signedSince.get(wallet, at)?.['number']),
    count(spend, caps) {
      const before = lostFile(kept);
      if (before !== undefined) return before;
      // Spending without a limit is not counted, which saves the wait for the disk.
      const isCostBound = spend.costLamports > 0n && (caps.solPerDay ?? caps.costPerDay) !== undefined;
      if (caps.input === undefined && !isCostBound) return OK;
      try {
        statements.begin.run();
        const { counted, written } = countIn(spend, caps, clock.now());
        statements[counted.ok ? 'commit' : 'rollback'].run();
        book.enter(written);
        return counted.ok ? lostFile(kept) ?? counted : counted;
      } catch (error) {
        book.invalidate();
        // SQLite itself rolls back on some faults.
        if (database.isTransaction) statements.rollback.run();
        return unwritable(error, stateDir);
      }
    },
    close: () => { database.close(); },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    known: database.prepare(
      `SELECT mint, amount_high, amount_low FROM spends WHERE wallet = ? AND message_hash = ? AND kind = 'input'`,
    ),
    insert: database.prepare(
      `INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    forget: database.prepare('DELETE FROM spends WHERE at < ?'),
    signedSince: database.prepare(
      `SELECT count(*) AS number FROM spends
      WHERE wallet = ? AND kind = 'input' AND (amount_high > 0 OR amount_low > 0) AND at > ?`,
    ),
  };
}

/** Spending in a deleted file would be forgotten with this process. */
function lostFile(kept: KeptFiles): Counted | undefined {
  const fault = kept.fault();
  if (fault === undefined) return undefined;
  return {
    ok: false, code: 'COUNTERS_LOST',
    message: `${fault}; no more signatures are given: restore the state directory, then start again`,
  };
}

function unwritable(error: unknown, stateDir: string | undefined): Counted {
  return {
    ok: false, code: 'COUNTERS_UNWRITABLE',
    message: `the spending cannot be written: ${printable(messageOf(error))}; until it can, nothing is signed, `
      + `exits included: make room on the disk of ${stateDir ?? 'this machine'}`,
  };
}

function windowsOf(book: SpendBook, now: Millis): Windows {
  return {
    since: (kind, mint, windowMs) => book.since(kind, mint, now - windowMs),
    freeAt: (kinds, mint, windowMs) =>
      Math.min(...kinds.map((kind) => book.oldestAfter(kind, mint, now - windowMs) ?? Infinity)) + windowMs,
  };
}

function countedBefore({ mint, amount }: Spend, before: { readonly mint: string; readonly amount: bigint }): Counted {
  if (before.mint === mint && before.amount >= amount) return OK;
  return {
    ok: false, code: 'TERMS_INVALID',
    message: `these bytes were signed before, for ${before.amount} of ${before.mint}, not for ${amount} of ${mint}`,
  };
}

function rowsOf({ messageHash, mint, amount, costLamports }: Spend, at: Millis): readonly BookedSpend[] {
  const input: BookedSpend = { messageHash, kind: 'input', mint, amount, at };
  return costLamports > 0n
    ? [input, { messageHash, kind: 'cost', mint: NATIVE_MINT, amount: costLamports, at }] : [input];
}

/** Recent spending. */
interface Windows {
  readonly since: (kind: SpendKind, mint: string, windowMs: Millis) => bigint;
  /** The time at which the oldest spending leaves the window; Infinity where there is none. */
  readonly freeAt: (kinds: readonly SpendKind[], mint: string, windowMs: Millis) => Millis;
}

/** Returns the first cap that a spend would exceed. */
function faultOf(
  { mint, amount, costLamports }: Spend, { input, solPerDay, costPerDay }: CapsInForce, { since, freeAt }: Windows,
): Counted | undefined {
  const isSol = mint === NATIVE_MINT;
  const within = (windowMs: Millis): bigint => amount + since('input', mint, windowMs);
  /** The room for this input with these costs. */
  const room = (kinds: readonly SpendKind[], windowMs: Millis) => (over: bigint): CapRoom | undefined => {
    const at = freeAt(kinds, mint, windowMs);
    if (!Number.isFinite(at)) return undefined;
    return { span: windowMs === HOUR_MS ? 'hour' : 'day', left: amount > over ? amount - over : 0n, freeAt: at };
  };
  /** Where the costs alone exceed the cap, no smaller input fits either. */
  const noRoom = (kinds: readonly SpendKind[]) => (): CapRoom | undefined => {
    const at = freeAt(kinds, NATIVE_MINT, DAY_MS);
    return Number.isFinite(at) ? { span: 'day', left: 0n, freeAt: at } : undefined;
  };
  const costs = (): bigint => costLamports + since('cost', NATIVE_MINT, DAY_MS);
  return exceeded('perTrade', input?.perTrade, amount, input)
    ?? (input?.perHour === undefined ? undefined
      : exceeded('perHour', input.perHour, within(HOUR_MS), input, '', room(['input'], HOUR_MS)))
    // For SOL fees and tips count too, see below.
    ?? (isSol || input?.perDay === undefined ? undefined
      : exceeded('perDay', input.perDay, within(DAY_MS), input, '', room(['input'], DAY_MS)))
    ?? (solPerDay === undefined || (!isSol && costLamports === 0n) ? undefined
      : exceeded(
        'perDay', solPerDay, (isSol ? amount : 0n) + since('input', NATIVE_MINT, DAY_MS) + costs(), SOL,
        ', fees and tips in it', isSol ? room(['input', 'cost'], DAY_MS) : noRoom(['input', 'cost']),
      ))
    ?? (costPerDay === undefined || costLamports === 0n ? undefined : exceeded(
      'perDay', costPerDay, costs(), SOL, ' of fees and tips; give SOL a cap of its own in signer.caps',
      noRoom(['cost']),
    ));
}

const SOL: Pick<Cap, 'name' | 'decimals'> = { name: 'SOL', decimals: 9 };

function exceeded(
  span: Span, most: bigint | undefined, wanted: bigint, token: Pick<Cap, 'name' | 'decimals'> | undefined, of = '',
  room?: (over: bigint) => CapRoom | undefined,
): Counted | undefined {
  if (most === undefined || wanted <= most) return undefined;
  const { name, decimals } = token ?? SOL;
  const { code, words } = EXCEEDED[span];
  return {
    ok: false, code, room: room?.(wanted - most),
    message: `${formatDecimal(wanted, decimals)} ${name} with this one, expected at most `
      + `${formatDecimal(most, decimals)} ${name} ${words}${of}`,
  };
}
