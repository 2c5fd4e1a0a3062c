import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';

/** A node's newest finalized block. */
export interface Finalized {
  readonly slot: bigint;
  readonly height: bigint;
}

/** A call whose answer counts only from a node that has reached a slot. */
interface FlooredCall<Answer> {
  readonly method: string;
  /** The slot that was known when the call was made. */
  readonly asOf: bigint;
  readonly call: () => Promise<Answer>;
  /** The slot of an answer; undefined where the slot of an answer proves nothing. */
  readonly slotOf: (answer: Answer) => bigint | undefined;
}

/** Two hours of slots: no usable node is that far behind another. */
export const LEAP_SLOTS = 20_000n;
/** The finalized slot is read every few seconds, and finality is a few dozen slots behind. */
const UNFINALIZED_SLOTS_MAX = 1_000n;
/** The newest slot of a node is seldom further ahead of its finalized one. */
const UNFINALIZED_SLOTS = 150n;
/** A healthy chain's finality is never further behind. */
const NEAR_SLOTS = 100n;
/** No chain makes slots faster for long. */
const SLOT_MIN_MS = 300;
/** Consecutive refusals of one method, and their least duration, before the floor itself is checked. */
const REFUSALS_MIN = 4;
const REFUSED_MIN_MS: Millis = 2_000;
const LEAP_CONFIRMED_MAX_MS: Millis = 30_000;
/** The JSON-RPC code of a node that has not reached `minContextSlot`. */
const MIN_CONTEXT_SLOT_NOT_REACHED = -32_016;

/**
 * The slot that every node must have reached before its answers count. It rises with the slots that nodes report as
 * finalized or landed. One wrong future slot must not stop all trading until the chain reaches it. So the floor is
 * lowered when a method was refused for as long as the floor had been confirmed, at least two seconds: the node is
 * asked again, twice, and its answer becomes the floor. A node that lags does not lower a floor that hours have
 * confirmed.
 */
export class SlotFloor {
  readonly #clock: Clock;
  readonly #askFinalized: () => Promise<Finalized>;
  #newest = 0n;
  #landed = 0n;
  /** The period in which finalized slots rose no faster than the clock explains. */
  #line: { readonly since: Millis; readonly at: Millis; readonly slot: bigint; readonly isLeap: boolean } | undefined;
  readonly #refusals = new Map<string, { count: number; readonly since: Millis }>();
  #isDeriving = false;

  constructor(clock: Clock, askFinalized: () => Promise<Finalized>) {
    this.#clock = clock;
    this.#askFinalized = askFinalized;
  }

  /** The newest slot that was seen finalized; 0 before any. */
  get finalized(): bigint {
    return this.#newest;
  }

  /** The newest slot in which a transaction of this wallet was confirmed, or any slot that was finalized. */
  get confirmed(): bigint {
    // Compared with the finalized slot again: an earlier finalized slot may have been wrong.
    return this.#landed > this.#newest && this.#isReachable(this.#landed) ? this.#landed : this.#newest;
  }

  /** Records a slot in which a transaction of this wallet landed. */
  sawConfirmed(slot: bigint): void {
    if (this.#isReachable(slot) && (slot > this.#landed || !this.#isReachable(this.#landed))) this.#landed = slot;
  }

  /** Records a finalized slot that passed every possible check. */
  sawFinalized(slot: bigint): void {
    // An older slot does no harm: its height only proves less. A slot that is very far behind, twice, shows that the
    // newest one was wrong.
    if (slot > this.#newest || this.#newest - slot > LEAP_SLOTS) this.#newest = slot;
    if (slot < this.#newest) return;
    const at = this.#clock.now();
    const line = this.#line;
    const isExplained = line !== undefined && slot >= line.slot
      && slot - line.slot <= UNFINALIZED_SLOTS + slotsIn(at - line.at);
    this.#line = isExplained ? { ...line, at, slot } : { since: at, at, slot, isLeap: line !== undefined };
  }

  /** Returns whether the chain can have reached a slot when the newest finalized one was seen. */
  isNear(slot: bigint): boolean {
    return this.#newest === 0n || slot - this.#newest <= NEAR_SLOTS;
  }

  /** Makes a call. Throws CHAIN_RESPONSE_INVALID where the answer is of an older slot, and what the call throws. */
  async ask<Answer>({ method, asOf, call, slotOf }: FlooredCall<Answer>): Promise<Answer> {
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

  /** The floor must be a slot that the chain can have reached. Before the first finalized slot, none can be judged. */
  #isReachable(slot: bigint): boolean {
    return slot - this.#newest <= UNFINALIZED_SLOTS_MAX;
  }

  async #refused(method: string): Promise<void> {
    const now = this.#clock.now();
    const refusals = this.#refusals.get(method) ?? { count: 0, since: now };
    refusals.count += 1;
    this.#refusals.set(method, refusals);
    if (refusals.count < REFUSALS_MIN || now - refusals.since < REFUSED_MIN_MS) return;
    await this.#deriveAgain(now - refusals.since);
  }

  /** How long the floor was confirmed. A period that began with an unexplained leap has less weight. */
  #confirmedMs(): Millis {
    if (this.#line === undefined) return 0;
    const { since, at, isLeap } = this.#line;
    return isLeap ? Math.min(at - since, LEAP_CONFIRMED_MAX_MS) : at - since;
  }

  async #deriveAgain(refusedMs: Millis): Promise<void> {
    if (this.#isDeriving) return;
    this.#isDeriving = true;
    try {
      const [first, second] = [await this.#askFinalized(), await this.#askFinalized()];
      const slots = second.slot - first.slot;
      if (slots < 0n || slots > UNFINALIZED_SLOTS || second.height < first.height || second.height > second.slot)
        return;
      if (second.slot >= this.#newest) {
        this.sawFinalized(second.slot);
      } else if (refusedMs >= this.#confirmedMs()) {
        const at = this.#clock.now();
        this.#newest = second.slot;
        this.#line = { since: at, at, slot: second.slot, isLeap: true };
        this.#refusals.clear();
      }
      if (this.#landed - this.#newest > UNFINALIZED_SLOTS) this.#landed = 0n;
    } catch (error) {
      // Without an answer the floor stays; the caller gets the refusal itself.
      if (!isGannetError(error)) throw error;
    } finally {
      this.#isDeriving = false;
    }
  }
}

/** Throws CHAIN_RESPONSE_INVALID where an answer is of a slot before the one that was finalized at the call. */
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
