import { hash } from 'node:crypto';
import type { Decision } from '../trading/step.ts';
import { createDecisionText } from './decision-text.ts';

/** A decision with the hash of everything decided up to it, hex. */
export interface LoggedDecision extends Decision {
  readonly h: string;
}

const HASH_BYTES = 32;

/**
 * Chains decisions: h = SHA-256(h of the one before + canonical JSON of the decision), from 32 zero bytes.
 * Two runs that end on the same hash decided the same, in the same order, at the same instants.
 */
export class DecisionLog {
  /**
   * The last hash in front, the next decision's text behind it: what is hashed lies in one place and is never copied.
   */
  #scratch = Buffer.alloc(4_096);
  readonly #textOf = createDecisionText();
  #hash = '0'.repeat(2 * HASH_BYTES);
  #count = 0;

  get hash(): string {
    return this.#hash;
  }

  get count(): number {
    return this.#count;
  }

  /** Appends a decision and returns it with its hash. */
  append(decision: Decision): LoggedDecision {
    const text = this.#textOf(decision);
    this.#reserve(text);
    const end = HASH_BYTES + this.#scratch.write(text, HASH_BYTES);
    // Asked for as bytes, the runtime would make a buffer for each; a text is made faster than that, even read back.
    this.#hash = hash('sha256', this.#scratch.subarray(0, end), 'hex');
    this.#scratch.write(this.#hash, 'hex');
    this.#count += 1;
    const { seq, at, strategy, proposal, verdict, code } = decision;
    return { seq, at, strategy, proposal, verdict, code, h: this.#hash };
  }

  /** A UTF-16 unit takes three bytes at the most. */
  #reserve(text: string): void {
    const needed = HASH_BYTES + 3 * text.length;
    if (needed <= this.#scratch.length) return;
    const larger = Buffer.alloc(2 * needed);
    this.#scratch.copy(larger, 0, 0, HASH_BYTES);
    this.#scratch = larger;
  }
}
