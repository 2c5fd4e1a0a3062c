import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';

/** The spans over which swaps are counted. */
export const RATE_SPANS = { perMinute: 60_000, perHour: 3_600_000, perDay: 86_400_000 } as const;
/** A span of `risk.max_swaps`. */
export type RateSpan = keyof typeof RATE_SPANS;

const COMPACT_APPROVALS_AT = 4_096;

/** Counts approvals within sliding spans. Time never goes back, so each span's start only moves forward. */
export class SwapRate {
  #times: Millis[];
  readonly #starts: Record<RateSpan, number> = { perMinute: 0, perHour: 0, perDay: 0 };

  constructor(times: readonly Millis[]) {
    this.#times = [...times];
  }

  /** Returns the approvals of the last day, oldest first. */
  get times(): readonly Millis[] {
    return this.#times.slice(this.#starts.perDay);
  }

  /** Moves approvals that are later than an instant to it; only before any are counted. */
  cap(at: Millis): void {
    this.#times = this.#times.map((time) => Math.min(time, at));
  }

  add(at: Millis): void {
    this.count('perDay', at);
    this.#compact();
    this.#times.push(at);
  }

  /** Returns how many approvals are younger than the span. */
  count(span: RateSpan, at: Millis): number {
    const oldest = at - RATE_SPANS[span];
    let start = this.#starts[span];
    while (start < this.#times.length && this.#times[start]! <= oldest) start += 1;
    this.#starts[span] = start;
    return this.#times.length - start;
  }

  /** Drops approvals older than a day once enough of them are worth a copy of the rest. */
  #compact(): void {
    const forgotten = this.#starts.perDay;
    if (forgotten < COMPACT_APPROVALS_AT) return;
    this.#times = this.#times.slice(forgotten);
    for (const span of Object.keys(this.#starts) as RateSpan[])
      this.#starts[span] = Math.max(0, this.#starts[span] - forgotten);
  }
}

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The sliding spans over which the signer caps what is spent. */
export const CAP_SPANS = { hour: HOUR, day: 24 * HOUR } as const;
/** A span of the signer's caps. */
export type CapSpan = keyof typeof CAP_SPANS;

/** Above this number of entries of one token, those older than an hour are summed by the minute. */
const COMPACT_AT = 256;

/** The room of a cap that the signer stated with a refusal, and when there is more. */
export interface CapRoom {
  readonly span: CapSpan;
  /** Of the input, smallest units. */
  readonly left: Amount;
  readonly freeAt: Millis;
}

interface Spend {
  readonly at: Millis;
  readonly amount: bigint;
  /** The intent and its attempt, as long as a restart may repeat the intent. */
  readonly id?: string | undefined;
  /** The only span that it counts for: a spend that the signer knows and the engine does not. */
  readonly span?: CapSpan | undefined;
}

/** Entries of one token as plain data, amounts as text. */
export interface SpendSnapshot extends Omit<Spend, 'amount'> {
  readonly amount: string;
}

/**
 * The engine's deterministic copy of the signer's counters: the signed amounts of tokens with a cap. Where the signer
 * refuses for a cap, its answer corrects the copy.
 */
export class SpendCounters {
  readonly #byMint = new Map<Mint, Spend[]>();

  /** Restores the counters from a snapshot. */
  constructor(saved: Readonly<Record<string, readonly SpendSnapshot[]>> = {}) {
    for (const [mint, spends] of Object.entries(saved)) {
      this.#byMint.set(mint as Mint, spends.map((spend) => ({ ...spend, amount: BigInt(spend.amount) })));
    }
  }

  /** Counts a signature once, even if two processes report it. */
  note(mint: Mint, { at, amount, id }: { readonly at: Millis; readonly amount: bigint; readonly id: string }): void {
    if (this.#of(mint).some((spend) => spend.id === id)) return;
    this.#insert(mint, { at, amount, id });
  }

  /**
   * Corrects the counters by the room that the signer states of a cap of `most`: spends that only the signer counted
   * are added. They count for at least a minute, because the signer's clock may be behind.
   */
  correct(mint: Mint, { span, left, freeAt }: CapRoom, most: bigint, now: Millis): void {
    const missing = most - left - this.used(mint, span, now);
    if (missing <= 0n) return;
    const until = Math.max(freeAt, now + MINUTE);
    this.#insert(mint, { at: Math.min(now, until - CAP_SPANS[span]), amount: missing, span });
  }

  /** Returns the signed amount of a token within the span before an instant. */
  used(mint: Mint, span: CapSpan, now: Millis): bigint {
    return this.counted(mint, span, now).reduce((sum, { amount }) => sum + amount, 0n);
  }

  /** Returns the entries that count for a span at an instant, oldest first. */
  counted(mint: Mint, span: CapSpan, now: Millis): readonly Pick<Spend, 'at' | 'amount'>[] {
    const after = now - CAP_SPANS[span];
    const spends = this.#byMint.get(mint) ?? [];
    return spends.filter((spend) => spend.at > after && (spend.span === undefined || spend.span === span));
  }

  /** Moves entries that are later than an instant to it; only before any are counted. */
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

/** Drops entries older than a day, and sums entries older than an hour by the minute. */
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
