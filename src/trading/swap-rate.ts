import type { Millis } from '../core/time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The spans over which swaps are counted. */
export const RATE_SPANS = { perMinute: MINUTE, perHour: HOUR, perDay: DAY } as const;
export type RateSpan = keyof typeof RATE_SPANS;

const COMPACT_AT = 4_096;

/** Counts approvals within sliding spans. Time only goes on, so each span's start only moves forward: no searching. */
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

  /** Takes approvals that are later than an instant for approvals of just then; before any are counted. */
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

  /** Forgets what is older than a day once there is enough of it to be worth moving the rest. */
  #compact(): void {
    const forgotten = this.#starts.perDay;
    if (forgotten < COMPACT_AT) return;
    this.#times = this.#times.slice(forgotten);
    for (const span of Object.keys(this.#starts) as RateSpan[])
      this.#starts[span] = Math.max(0, this.#starts[span] - forgotten);
  }
}
