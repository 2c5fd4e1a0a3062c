import type { KeyObject } from 'node:crypto';
import { formatDecimal } from '../../core/amount.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { SignerCode } from '../policy/codes.ts';
import type { CounterRow } from './counter-chain.ts';
import type { KeptFiles } from './kept-files.ts';
import { openBook } from './open-book.ts';
import type { CountingBook, SpendKind } from './spend-book.ts';
import { NATIVE_MINT } from '../../solana/constants.ts';

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
export interface Spend {
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

/** Why a spend does not fit. */
export interface CapRefusal {
  readonly ok: false;
  readonly code: SignerCode;
  readonly message: string;
  readonly room?: CapRoom | undefined;
}

type Counted = { readonly ok: true } | CapRefusal;

/** The durable count of one wallet's spending. */
interface SpendingCaps {
  /** Whether nothing is signed until `prove` tells what was spent before the counters began. */
  readonly isUnproven: boolean;
  /** Begins the counters, with the number of signatures of the wallet that the chain shows in the last day. */
  prove(ownSignatures: number): void;
  /** Whether an operator accepted missing or altered counters at this opening. */
  readonly isAccepted: boolean;
  /** The time until which caps of a day count as used, because rows were missing; undefined where none were. */
  readonly fullUntil: Millis | undefined;
  /** Counts a spend where the caps leave room for it; it is on disk when this returns. Never throws. */
  count(spend: Spend, caps: CapsInForce): Counted;
  /** Returns what `count` would, and writes nothing. Never throws. */
  check(spend: Spend, caps: CapsInForce): Counted;
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
 * Opens the counters of a wallet in the signer's folder. The windows slide: an hour is the last 60 minutes by the
 * clock. Spending in the clock's future counts as of now, so that a clock set back frees nothing. A clock that jumps
 * forward ages everything: that cannot be told from time that passed. Spending is never given back, whether its swap
 * landed, failed or expired, since the caller is not trusted. Spending by a second process on the same file counts.
 * Throws COUNTERS_ALTERED, JOURNAL_INVALID or JOURNAL_FAILED.
 */
export function openSpendingCaps({ folder, wallet, key, clock, acceptNew = false, onlyReads = false }: {
  /** Undefined where wallet and chain end with the process. */
  readonly folder: string | undefined; readonly wallet: string; readonly clock: Pick<Clock, 'now'>;
  /** Authenticates the counters: derived from the wallet's key. */
  readonly key: KeyObject;
  readonly acceptNew?: boolean | undefined;
  /** Whether the counters are read as they are, and nothing is counted. */
  readonly onlyReads?: boolean | undefined;
}): SpendingCaps {
  const opened = openBook({ folder, wallet, key, clock, windowMs: DAY_MS, acceptNew, onlyReads });
  const { book, kept } = opened;
  let tidiedAt: Millis = -Infinity;

  /** Returns the refusal of a spend; `isKnown` where the same bytes are counted already. */
  function fits(spend: Spend, caps: CapsInForce, now: Millis): Counted & { readonly isKnown?: true } {
    book.catchUp(now);
    const known = book.known(spend.messageHash);
    if (known !== undefined) return { ...countedBefore(spend, known), isKnown: true };
    return fullFault(caps, book.fullAt, now) ?? faultOf(spend, caps, windowsOf(book, now)) ?? OK;
  }

  /** Writes a spend where the caps leave room for it. Runs within one transaction. */
  function countIn(spend: Spend, caps: CapsInForce, now: Millis): Counted {
    const fit = fits(spend, caps, now);
    if (!fit.ok || fit.isKnown === true) return fit;
    book.append(rowsOf(spend, now));
    if (Math.abs(now - tidiedAt) > HOUR_MS) {
      book.forgetBefore(now - KEPT_MS);
      tidiedAt = now;
    }
    return OK;
  }

  function counted(spend: Spend, caps: CapsInForce, act: () => Counted): Counted {
    const before = lostFile(kept);
    if (before !== undefined) return before;
    // Spending without a limit is not counted, which saves the wait for the disk.
    const isCostBound = spend.costLamports > 0n && (caps.solPerDay ?? caps.costPerDay) !== undefined;
    if (caps.input === undefined && !isCostBound) return OK;
    if (opened.isUnproven) return UNPROVEN;
    try {
      return act();
    } catch (error) {
      return isGannetError(error) && error.code === 'COUNTERS_ALTERED'
        ? { ok: false, code: error.code, message: error.message } : unwritable(error, folder);
    }
  }

  return {
    get isUnproven() { return opened.isUnproven; },
    isAccepted: opened.isAccepted,
    prove: (ownSignatures) => { opened.prove(ownSignatures); },
    get fullUntil() { return book.fullAt === undefined ? undefined : book.fullAt + DAY_MS; },
    signedSince: (at) => opened.signedSince(at),
    count: (spend, caps) => counted(spend, caps, () => {
      const done = opened.transact(() => countIn(spend, caps, clock.now()));
      return done.ok ? lostFile(kept) ?? done : done;
    }),
    check: (spend, caps) => counted(spend, caps, () => fits(spend, caps, clock.now())),
    close: () => { opened.close(); },
  };
}

const UNPROVEN: Counted = {
  ok: false, code: 'COUNTERS_UNPROVEN',
  message: 'there are no counters yet, and the node has not told what this wallet spent in the last day: nothing is '
    + 'signed until it does. Without a node, start once with --accept-new-counters',
};

/** Returns the refusal of a cap whose window began before rows were lost. */
function fullFault(
  { input, solPerDay, costPerDay }: CapsInForce, fullAt: Millis | undefined, now: Millis,
): CapRefusal | undefined {
  if (fullAt === undefined) return undefined;
  const of = (code: SignerCode, span: CapRoom['span'], freeAt: Millis): CapRefusal => ({
    ok: false, code, room: { span, left: 0n, freeAt },
    message: `the counters were missing or an older copy at ${new Date(fullAt).toISOString().slice(0, 19)}Z, so every `
      + `cap counts as used for ${span === 'hour' ? 'an hour' : 'a day'} from then on. Where you know what was spent, `
      + 'start once with --accept-new-counters',
  });
  if ((input?.perDay ?? solPerDay ?? costPerDay) !== undefined && fullAt > now - DAY_MS)
    return of('CAP_EXCEEDED_DAY', 'day', fullAt + DAY_MS);
  if (input?.perHour !== undefined && fullAt > now - HOUR_MS) return of('CAP_EXCEEDED_HOUR', 'hour', fullAt + HOUR_MS);
  return undefined;
}

/** Spending in a deleted file would be forgotten with this process. */
function lostFile(kept: KeptFiles): CapRefusal | undefined {
  const fault = kept.fault();
  if (fault === undefined) return undefined;
  return {
    ok: false, code: 'COUNTERS_LOST',
    message: `${fault}; no more signatures are given: restore the signer’s folder, then start again`,
  };
}

function unwritable(error: unknown, folder: string | undefined): CapRefusal {
  return {
    ok: false, code: 'COUNTERS_UNWRITABLE',
    message: `the spending cannot be written: ${printable(messageOf(error))}; until it can, nothing is signed, `
      + `exits included: make room on the disk of ${folder ?? 'this machine'}`,
  };
}

function windowsOf(book: CountingBook, now: Millis): Windows {
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

function rowsOf({ messageHash, mint, amount, costLamports }: Spend, at: Millis): readonly CounterRow[] {
  const input: CounterRow = { messageHash, kind: 'input', mint, amount, at };
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
): CapRefusal | undefined {
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
): CapRefusal | undefined {
  if (most === undefined || wanted <= most) return undefined;
  const { name, decimals } = token ?? SOL;
  const { code, words } = EXCEEDED[span];
  return {
    ok: false, code, room: room?.(wanted - most),
    message: `${formatDecimal(wanted, decimals)} ${name} with this one, expected at most `
      + `${formatDecimal(most, decimals)} ${name} ${words}${of}`,
  };
}
