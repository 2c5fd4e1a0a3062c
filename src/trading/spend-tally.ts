import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The sliding spans over which the signer caps what is spent. */
export const CAP_SPANS = { hour: HOUR, day: 24 * HOUR } as const;
export type CapSpan = keyof typeof CAP_SPANS;

/** Above so many entries of one token, those older than an hour are added up by the minute. */
const COMPACT_AT = 256;

/** What the signer said with a refusal: how much of a cap is left, and when more of it is. */
export interface CapRoom {
  readonly span: CapSpan;
  /** Of the input, smallest units. */
  readonly left: Amount;
  readonly freeAt: Millis;
}

interface Spend {
  readonly at: Millis;
  readonly amount: bigint;
  /** The intent and its attempt while a restart may bring the intent again. */
  readonly id?: string | undefined;
  /** Counts for this span alone: what the signer knows of and the engine was never told. */
  readonly span?: CapSpan | undefined;
}

/** Entries of one token as plain data, amounts as text. */
export interface SpendSnapshot extends Omit<Spend, 'amount'> {
  readonly amount: string;
}

/**
 * What was signed away of tokens that have a cap, as far as the engine was told: its own deterministic copy of the
 * signer's counters. Where the signer refuses for a cap, its answer corrects the copy.
 */
export class SpendTally {
  readonly #byMint = new Map<Mint, Spend[]>();

  /** Takes what `snapshot` returned. */
  constructor(saved: Readonly<Record<string, readonly SpendSnapshot[]>> = {}) {
    for (const [mint, spends] of Object.entries(saved)) {
      this.#byMint.set(mint as Mint, spends.map((spend) => ({ ...spend, amount: BigInt(spend.amount) })));
    }
  }

  /** Counts a signature once, whatever process hears of it. */
  note(mint: Mint, { at, amount, id }: { readonly at: Millis; readonly amount: bigint; readonly id: string }): void {
    if (this.#of(mint).some((spend) => spend.id === id)) return;
    this.#insert(mint, { at, amount, id });
  }

  /**
   * Takes in what the signer says is left of a cap of `most`. What it counted and the engine did not is added. It
   * counts for a minute at least: the clock of the signer may be behind, and its time then seems past.
   */
  correct(mint: Mint, { span, left, freeAt }: CapRoom, most: bigint, now: Millis): void {
    const missing = most - left - this.used(mint, span, now);
    if (missing <= 0n) return;
    const until = Math.max(freeAt, now + MINUTE);
    this.#insert(mint, { at: Math.min(now, until - CAP_SPANS[span]), amount: missing, span });
  }

  /** Returns what was signed away of a token within the span before an instant. */
  used(mint: Mint, span: CapSpan, now: Millis): bigint {
    return this.counted(mint, span, now).reduce((sum, { amount }) => sum + amount, 0n);
  }

  /** Returns what counts for a span at an instant, oldest first. */
  counted(mint: Mint, span: CapSpan, now: Millis): readonly Pick<Spend, 'at' | 'amount'>[] {
    const after = now - CAP_SPANS[span];
    const spends = this.#byMint.get(mint) ?? [];
    return spends.filter((spend) => spend.at > after && (spend.span === undefined || spend.span === span));
  }

  /** Takes entries that are later than an instant for entries of just then; before any are counted. */
  cap(at: Millis): void {
    for (const [mint, spends] of this.#byMint) {
      this.#byMint.set(mint, spends.map((spend) => (spend.at > at ? { ...spend, at } : spend)));
    }
  }

  snapshot(): Record<string, SpendSnapshot[]> {
    return Object.fromEntries([...this.#byMint].map(([mint, spends]) => (
      [mint, spends.map((spend) => ({ ...spend, amount: spend.amount.toString() }))])));
  }

  #of(mint: Mint): Spend[] {
    const known = this.#byMint.get(mint);
    if (known !== undefined) return known;
    const fresh: Spend[] = [];
    this.#byMint.set(mint, fresh);
    return fresh;
  }

  #insert(mint: Mint, spend: Spend): void {
    const spends = this.#of(mint);
    let place = spends.length;
    while (place > 0 && spends[place - 1]!.at > spend.at) place -= 1;
    spends.splice(place, 0, spend);
    if (spends.length > COMPACT_AT) this.#byMint.set(mint, compacted(spends));
  }
}

/** Forgets what is older than a day, and adds up what is older than an hour by the minute, at the end of each. */
function compacted(spends: readonly Spend[]): Spend[] {
  const now = spends.at(-1)!.at;
  const kept: Spend[] = [];
  for (const spend of spends) {
    if (spend.at <= now - CAP_SPANS.day) continue;
    const last = kept.at(-1);
    const isOld = spend.at <= now - HOUR && last !== undefined && last.span === spend.span;
    if (isOld && Math.floor(last.at / MINUTE) === Math.floor(spend.at / MINUTE)) {
      kept[kept.length - 1] = { at: spend.at, amount: last.amount + spend.amount, span: spend.span };
    } else kept.push(spend);
  }
  return kept;
}
