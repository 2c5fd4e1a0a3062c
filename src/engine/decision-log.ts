import { hash } from 'node:crypto';
import { canonicalJson } from '../core/json.ts';
import type { Proposal, SwapProposal } from '../trading/proposal.ts';
import type { Decision } from '../trading/step.ts';

/** More names than a run has; the bound keeps invented names from filling memory. */
const NAMES_MAX = 1_000;

/**
 * Returns a function that writes the hashed text of a decision, byte for byte as `canonicalJson` does. Nearly all
 * decisions are about swaps with known members: composed here in order, they need no sorting, and repeated names are
 * quoted once. That takes half the time of `canonicalJson`.
 */
function createDecisionText(): (decision: Decision) => string {
  const names = new Map<string, string>();
  const quoted = (name: string): string => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const text = JSON.stringify(name);
    if (names.size < NAMES_MAX) names.set(name, text);
    return text;
  };
  return (decision) => {
    const { at, code, proposal, seq, strategy, verdict } = decision;
    if (!isPlainSwap(proposal) || !Number.isFinite(at) || !Number.isFinite(seq)) return canonicalJson(decision);
    const { amount, inputMint, key, limit, outputMint, reason, route, slippageBps, tag } = proposal;
    const swap = `{"amount":"${amount}","inputMint":${quoted(inputMint)}`
      + `${key === undefined ? '' : `,"key":${JSON.stringify(key)}`},"kind":"swap"`
      + `${limit === undefined ? '' : `,"limit":"${limit}"`},"outputMint":${quoted(outputMint)}`
      + `,"reason":${JSON.stringify(reason)}${route === undefined ? '' : `,"route":"${route}"`}`
      + (slippageBps === undefined ? '' : `,"slippageBps":${slippageBps}`)
      + `${tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`}}`;
    return `{"at":${at},"code":${code === null ? 'null' : quoted(code)},"proposal":${swap},"seq":${seq}`
      + `,"strategy":${quoted(strategy)},"verdict":"${verdict}"}`;
  };
}

type PlainSwap = SwapProposal & { readonly amount: bigint | 'all' };

/** `kind`, `inputMint`, `outputMint`, `amount` and `reason`. */
const REQUIRED_MEMBERS = 5;

/** Returns whether a proposal has the members of a swap and no others, and JSON can hold all of them. */
function isPlainSwap(proposal: Proposal): proposal is PlainSwap {
  if (proposal.kind !== 'swap' || typeof proposal.amount === 'object'
      || Object.getPrototypeOf(proposal) !== Object.prototype) return false;
  const { key, limit, route, slippageBps, tag } = proposal;
  if (slippageBps !== undefined && !Number.isFinite(slippageBps)) return false;
  if (!isTextOrAbsent(key) || !isTextOrAbsent(tag)) return false;
  const optional = (key === undefined ? 0 : 1) + (limit === undefined ? 0 : 1) + (route === undefined ? 0 : 1)
    + (slippageBps === undefined ? 0 : 1) + (tag === undefined ? 0 : 1);
  return Object.keys(proposal).length === REQUIRED_MEMBERS + optional;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** A decision with the hash of everything decided up to it, hex. */
export interface LoggedDecision extends Decision {
  readonly h: string;
}

const HASH_BYTES = 32;

/**
 * Chains decisions: h = SHA-256(h of the one before + canonical JSON of the decision), from 32 zero bytes.
 * Two runs with the same last hash made the same decisions, in the same order, at the same instants.
 */
export class DecisionLog {
  /** The last hash, followed by the next decision's text: the hashed bytes are in one place and never copied. */
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
    // A hash as bytes would need a new buffer each time; a hex text is faster, even with the conversion back.
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
