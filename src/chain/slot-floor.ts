import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';

/** What a node said of its newest finalized block. */
export interface Finalized {
  readonly slot: bigint;
  readonly height: bigint;
}

/** A question whose answer counts only from a node that has come to a slot. */
export interface HeldQuestion<Answer> {
  readonly method: string;
  /** The slot that was known when the question was made. */
  readonly asOf: bigint;
  readonly call: () => Promise<Answer>;
  /** The slot of an answer; undefined where an answer proves nothing by its slot. */
  readonly slotOf: (answer: Answer) => bigint | undefined;
}

/** Two hours of slots: no node that is of use is as far behind another. */
export const LEAP_SLOTS = 20_000n;
/** The finalized slot is read every few seconds, and finality is a few dozen slots behind. */
const UNFINALIZED_SLOTS_MAX = 1_000n;
/** The newest slot of a node is seldom further ahead of its finalized one. */
const UNFINALIZED_SLOTS = 150n;
/** A chain whose finality is further behind is in trouble. */
const NEAR_SLOTS = 100n;
/** No chain makes slots faster for long. */
const SLOT_MIN_MS = 300;
/** Refusals of one method, one after the other, before the floor itself is doubted, and how long they must last. */
const REFUSALS_MIN = 4;
const REFUSED_MIN_MS: Millis = 2_000;
const LEAP_VOUCHED_MAX_MS: Millis = 30_000;
/** The node's own word that a `minContextSlot` is not reached. */
const MIN_CONTEXT_SLOT_NOT_REACHED = -32_016;

/**
 * The slot that every node must have come to before its answers count. It rises with what nodes say was finalized or has
 * landed. One wrong answer of the future must not stop all trading until the chain gets there: where a method is refused
 * for as long as the slot was vouched for (a span by the clock, at least two seconds), the node is asked anew, twice, and
 * the floor falls to its answer. A floor that hours have vouched for is not lowered by a node that lags.
 */
export class SlotFloor {
  readonly #clock: Clock;
  readonly #askFinalized: () => Promise<Finalized>;
  #newest = 0n;
  #landed = 0n;
  /** Since when, and until when, finalized slots were seen that the clock explains one by the other. */
  #line: { readonly since: Millis; readonly at: Millis; readonly slot: bigint; readonly isLeap: boolean } | undefined;
  readonly #refusals = new Map<string, { count: number; readonly since: Millis }>();
  #isDeriving = false;

  constructor(clock: Clock, askFinalized: () => Promise<Finalized>) {
    this.#clock = clock;
    this.#askFinalized = askFinalized;
  }

  /** The newest slot that was seen to be finalized; 0 before any. */
  get finalized(): bigint {
    return this.#newest;
  }

  /** The newest slot in which something of ours was seen to be confirmed, or any to be finalized. */
  get confirmed(): bigint {
    // Held against the finalized slot once more: the one that it was held against before may have been wrong.
    return this.#landed > this.#newest && this.#isReachable(this.#landed) ? this.#landed : this.#newest;
  }

  /** Tells of a slot in which something of ours landed. */
  sawConfirmed(slot: bigint): void {
    if (this.#isReachable(slot) && (slot > this.#landed || !this.#isReachable(this.#landed))) this.#landed = slot;
  }

  /** Tells of a finalized slot that was checked as far as it can be. */
  sawFinalized(slot: bigint): void {
    // One that is behind does no harm: its height only proves less, and it is not asked for anything else. Unless it is
    // so far behind, twice, that what was newest was wrong.
    if (slot > this.#newest || this.#newest - slot > LEAP_SLOTS) this.#newest = slot;
    if (slot < this.#newest) return;
    const at = this.#clock.now();
    const line = this.#line;
    const isExplained = line !== undefined && slot >= line.slot && slot - line.slot <= UNFINALIZED_SLOTS + slotsIn(at - line.at);
    this.#line = isExplained ? { ...line, at, slot } : { since: at, at, slot, isLeap: line !== undefined };
  }

  /** Returns whether the chain can have come to a slot by the time at which the newest finalized one was seen. */
  isNear(slot: bigint): boolean {
    return this.#newest === 0n || slot - this.#newest <= NEAR_SLOTS;
  }

  /** Asks. Throws CHAIN_RESPONSE_INVALID where the answer is of an older slot, and what the call throws. */
  async ask<Answer>({ method, asOf, call, slotOf }: HeldQuestion<Answer>): Promise<Answer> {
    try {
      const answer = await call();
      const slot = slotOf(answer);
      if (slot !== undefined) refuseLaggard(method, slot, asOf);
      this.#refusals.delete(method);
      return answer;
    } catch (error) {
      if (isRefusal(error)) await this.#refused(method);
      throw error;
    }
  }

  /** A slot that the chain cannot have come to would be waited for; before the first finalized slot is known, no slot can be judged. */
  #isReachable(slot: bigint): boolean {
    return slot - this.#newest <= UNFINALIZED_SLOTS_MAX;
  }

  async #refused(method: string): Promise<void> {
    const now = this.#clock.now();
    const refusals = this.#refusals.get(method) ?? { count: 0, since: now };
    refusals.count += 1;
    this.#refusals.set(method, refusals);
    if (refusals.count < REFUSALS_MIN || now - refusals.since < REFUSED_MIN_MS) return;
    await this.#deriveAnew(now - refusals.since);
  }

  /** For how long the floor was vouched for. What began with a leap that no clock explains has less weight, however long it lasted. */
  #vouchedMs(): Millis {
    if (this.#line === undefined) return 0;
    const { since, at, isLeap } = this.#line;
    return isLeap ? Math.min(at - since, LEAP_VOUCHED_MAX_MS) : at - since;
  }

  async #deriveAnew(refusedMs: Millis): Promise<void> {
    if (this.#isDeriving) return;
    this.#isDeriving = true;
    try {
      const [first, second] = [await this.#askFinalized(), await this.#askFinalized()];
      const slots = second.slot - first.slot;
      if (slots < 0n || slots > UNFINALIZED_SLOTS || second.height < first.height || second.height > second.slot) return;
      if (second.slot >= this.#newest) {
        this.sawFinalized(second.slot);
      } else if (refusedMs >= this.#vouchedMs()) {
        const at = this.#clock.now();
        this.#newest = second.slot;
        this.#line = { since: at, at, slot: second.slot, isLeap: true };
        this.#refusals.clear();
      }
      if (this.#landed - this.#newest > UNFINALIZED_SLOTS) this.#landed = 0n;
    } catch (error) {
      // Without an answer nothing is derived; the refusal itself is what the caller hears of.
      if (!isGannetError(error)) throw error;
    } finally {
      this.#isDeriving = false;
    }
  }
}

/** Throws CHAIN_RESPONSE_INVALID where an answer is of a slot before the one that was finalized when it was asked for. */
function refuseLaggard(method: string, slot: bigint, asOf: bigint): void {
  if (slot >= asOf) return;
  const message = `${method}: expected an answer as of slot ${asOf} or later, got one of a node at ${slot}`;
  throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method, slot, expectedSlot: asOf } });
}

function isRefusal(error: unknown): boolean {
  if (!isGannetError(error)) return false;
  return error.details['expectedSlot'] !== undefined || error.details['rpcCode'] === MIN_CONTEXT_SLOT_NOT_REACHED;
}

function slotsIn(spanMs: Millis): bigint {
  return BigInt(Math.max(0, Math.floor(spanMs / SLOT_MIN_MS)));
}
