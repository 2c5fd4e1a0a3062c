import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { formatDecimal } from '../core/amount.ts';
import { messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SignerCode } from './authorisation-codes.ts';
import { openCounters, openPassingCounters } from './counters.ts';
import { NATIVE_MINT } from './policy/known-programs.ts';

/** What may be spent of one mint, smallest units; what is undefined has no bound. */
export interface Cap {
  readonly perTrade?: bigint | undefined;
  readonly perHour?: bigint | undefined;
  readonly perDay?: bigint | undefined;
  /** For messages. */
  readonly name: string;
  readonly decimals: number;
}

/** What one signature lets go. */
export interface Spend {
  /** Of the signed bytes, hex: the same bytes are counted once. */
  readonly messageHash: string;
  readonly mint: string;
  readonly amount: bigint;
  /** Fees and tips that the wallet pays beside; rent stays its own. */
  readonly costLamports: bigint;
}

/** What bounds one signature. */
export interface CapsInForce {
  /** Of the input; undefined for no bound. */
  readonly input: Cap | undefined;
  /** Lamports of a day, of SOL as an input and of costs together. */
  readonly solPerDay: bigint | undefined;
  /** Lamports of a day, of costs alone. */
  readonly costPerDay: bigint | undefined;
}

export type Counted = { readonly ok: true } | { readonly ok: false; readonly code: SignerCode; readonly message: string };

/** One wallet's durable count of what was signed away. */
export interface SpendingCaps {
  /** Counts a spend where the caps leave room for it; it is on disk when this returns. Never throws. */
  count(spend: Spend, caps: CapsInForce): Counted;
  close(): void;
}

const HOUR_MS: Millis = 3_600_000;
const DAY_MS: Millis = 24 * HOUR_MS;
/** Longer than any window by far, so that a clock that was wrong for days loses nothing that still counts. */
const KEPT_MS: Millis = 30 * DAY_MS;
const OK: Counted = { ok: true };

type Kind = 'input' | 'cost';
type Span = 'perTrade' | 'perHour' | 'perDay';

const EXCEEDED: Readonly<Record<Span, { readonly code: SignerCode; readonly words: string }>> = {
  perTrade: { code: 'CAP_EXCEEDED_TRADE', words: 'a trade' },
  perHour: { code: 'CAP_EXCEEDED_HOUR', words: 'an hour' },
  perDay: { code: 'CAP_EXCEEDED_DAY', words: 'a day' },
};

/**
 * Opens the counters of a wallet in a state directory. The windows slide: an hour is the last 60 minutes by the clock.
 * What lies in the clock's future counts as of now, so that a clock set back frees nothing; one that leaps forward ages
 * everything, which nobody here can tell from time that passed. A spend is never given back, whether its swap landed,
 * failed or expired: whoever asks is not believed. Throws JOURNAL_INVALID or JOURNAL_FAILED.
 */
export function openSpendingCaps({ stateDir, wallet, clock }: {
  /** Undefined where wallet and chain end with the process, and the count with them. */
  readonly stateDir: string | undefined; readonly wallet: string; readonly clock: Pick<Clock, 'now'>;
}): SpendingCaps {
  const database = stateDir === undefined ? openPassingCounters() : openCounters(stateDir);
  const statements = {
    known: database.prepare(`SELECT mint, amount_high AS high, amount_low AS low FROM spends WHERE wallet = ? AND message_hash = ? AND kind = 'input'`),
    since: database.prepare('SELECT sum(amount_high) AS high, sum(amount_low) AS low FROM spends WHERE wallet = ? AND mint = ? AND kind = ? AND at > ?'),
    insert: database.prepare('INSERT INTO spends (wallet, message_hash, mint, kind, amount_high, amount_low, at) VALUES (?, ?, ?, ?, ?, ?, ?)'),
    forget: database.prepare('DELETE FROM spends WHERE at < ?'),
  };
  return {
    count(spend, caps) {
      // What nothing bounds need not be counted, which spares the wait for the disk.
      const isCostBound = spend.costLamports > 0n && (caps.solPerDay ?? caps.costPerDay) !== undefined;
      if (caps.input === undefined && !isCostBound) return OK;
      try {
        return inTransaction(database, () => countIn(statements, { wallet, spend, caps, now: clock.now() }));
      } catch (error) {
        return {
          ok: false, code: 'COUNTERS_UNWRITABLE',
          message: `what would be spent cannot be written down: ${printable(messageOf(error))}; until it can, nothing is signed, exits included: make room on the disk of ${stateDir ?? 'this machine'}`,
        };
      }
    },
    close: () => { database.close(); },
  };
}

function inTransaction(database: DatabaseSync, body: () => Counted): Counted {
  // Nobody else counts between the reading and the writing.
  database.exec('BEGIN IMMEDIATE');
  try {
    const counted = body();
    database.exec(counted.ok ? 'COMMIT' : 'ROLLBACK');
    return counted;
  } catch (error) {
    // SQLite itself rolls back on some faults.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

type Statements = Readonly<Record<'known' | 'since' | 'insert' | 'forget', StatementSync>>;

function countIn(statements: Statements, { wallet, spend, caps, now }: {
  readonly wallet: string; readonly spend: Spend; readonly caps: CapsInForce; readonly now: Millis;
}): Counted {
  const { messageHash, mint, amount, costLamports } = spend;
  const known = statements.known.get(wallet, messageHash);
  if (known !== undefined) {
    const before = amountOf(known);
    if (known['mint'] === mint && before >= amount) return OK;
    return { ok: false, code: 'TERMS_INVALID', message: `these bytes were signed before, for ${before} of ${String(known['mint'])}, not for ${amount} of ${mint}` };
  }
  const signedAway = (kind: Kind, of: string, windowMs: Millis): bigint => amountOf(statements.since.get(wallet, of, kind, now - windowMs)!);

  const { input, solPerDay, costPerDay } = caps;
  const isSol = mint === NATIVE_MINT;
  const faults: readonly (() => Counted | undefined)[] = [
    () => exceeded('perTrade', input?.perTrade, amount, input),
    () => exceeded('perHour', input?.perHour, amount + (input?.perHour === undefined ? 0n : signedAway('input', mint, HOUR_MS)), input),
    () => exceeded('perDay', isSol ? undefined : input?.perDay, amount + (input?.perDay === undefined ? 0n : signedAway('input', mint, DAY_MS)), input),
    () => (solPerDay === undefined || (!isSol && costLamports === 0n) ? undefined : exceeded('perDay', solPerDay,
      (isSol ? amount : 0n) + costLamports + signedAway('input', NATIVE_MINT, DAY_MS) + signedAway('cost', NATIVE_MINT, DAY_MS), SOL, ', fees and tips in it')),
    () => (costPerDay === undefined || costLamports === 0n ? undefined : exceeded('perDay', costPerDay, costLamports + signedAway('cost', NATIVE_MINT, DAY_MS), SOL, ' of fees and tips; give SOL a cap of its own in signer.caps')),
  ];
  for (const fault of faults) {
    const found = fault();
    if (found !== undefined) return found;
  }
  statements.insert.run(wallet, messageHash, mint, 'input', ...parts(amount), now);
  if (costLamports > 0n) statements.insert.run(wallet, messageHash, NATIVE_MINT, 'cost', ...parts(costLamports), now);
  statements.forget.run(now - KEPT_MS);
  return OK;
}

/** Sums of nothing are null. */
function amountOf(row: Readonly<Record<string, unknown>>): bigint {
  return (BigInt(Number(row['high'] ?? 0)) << 32n) + BigInt(Number(row['low'] ?? 0));
}

function parts(amount: bigint): [high: bigint, low: bigint] {
  return [amount >> 32n, amount & 0xffff_ffffn];
}

const SOL: Pick<Cap, 'name' | 'decimals'> = { name: 'SOL', decimals: 9 };

function exceeded(span: Span, most: bigint | undefined, wanted: bigint, token: Pick<Cap, 'name' | 'decimals'> | undefined, of = ''): Counted | undefined {
  if (most === undefined || wanted <= most) return undefined;
  const { name, decimals } = token ?? SOL;
  const { code, words } = EXCEEDED[span];
  return { ok: false, code, message: `${formatDecimal(wanted, decimals)} ${name} with this one, expected at most ${formatDecimal(most, decimals)} ${name} ${words}${of}` };
}
