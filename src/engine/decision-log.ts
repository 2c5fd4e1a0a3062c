import { hash } from 'node:crypto';
import { canonicalJson } from '../core/json.ts';
import type { Decision } from '../trading/step.ts';

/** A decision with the hash of everything decided up to it, hex. */
export interface LoggedDecision extends Decision {
  readonly h: string;
}

/**
 * Chains decisions: h = SHA-256(h of the one before + canonical JSON of the decision), from 32 zero bytes.
 * Two runs that end on the same hash decided the same, in the same order, at the same instants.
 */
export class DecisionLog {
  #hash: Buffer = Buffer.alloc(32);
  #count = 0;

  get hash(): string {
    return this.#hash.toString('hex');
  }

  get count(): number {
    return this.#count;
  }

  /** Appends a decision and returns it with its hash. */
  append(decision: Decision): LoggedDecision {
    this.#hash = hash('sha256', Buffer.concat([this.#hash, Buffer.from(canonicalJson(decision))]), 'buffer');
    this.#count += 1;
    return { ...decision, h: this.hash };
  }
}
