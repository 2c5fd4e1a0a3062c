import { canonicalJson } from '../core/json.ts';
import type { Proposal, SwapProposal } from '../trading/proposal.ts';
import type { Decision } from '../trading/step.ts';

/** More different names than a run has; whoever makes up ever new ones is not to fill the memory. */
const NAMES_MAX = 1_000;

/**
 * Returns what writes the text of a decision that is hashed, byte for byte what `canonicalJson` returns. Nearly all
 * decisions are about swaps, whose members are known: put together here in their order they need no sorting, and names
 * that come again and again are quoted once. That takes half the time of the runtime's own writer.
 */
export function createDecisionText(): (decision: Decision) => string {
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
    const { amount, inputMint, key, limit, outputMint, reason, route, slippageBps } = proposal;
    const swap = `{"amount":"${amount}","inputMint":${quoted(inputMint)}`
      + `${key === undefined ? '' : `,"key":${JSON.stringify(key)}`},"kind":"swap"`
      + `${limit === undefined ? '' : `,"limit":"${limit}"`},"outputMint":${quoted(outputMint)},"reason":${JSON.stringify(reason)}`
      + `${route === undefined ? '' : `,"route":"${route}"`}${slippageBps === undefined ? '' : `,"slippageBps":${slippageBps}`}}`;
    return `{"at":${at},"code":${code === null ? 'null' : quoted(code)},"proposal":${swap},"seq":${seq},"strategy":${quoted(strategy)},"verdict":"${verdict}"}`;
  };
}

type PlainSwap = SwapProposal & { readonly amount: bigint | 'all' };

/** `kind`, `inputMint`, `outputMint`, `amount` and `reason`. */
const ALWAYS_THERE = 5;

/**
 * Whether a proposal has the members of a swap and no others, as many as are known to be there, and the runtime's
 * writer says them all.
 */
function isPlainSwap(proposal: Proposal): proposal is PlainSwap {
  if (proposal.kind !== 'swap' || typeof proposal.amount === 'object'
      || Object.getPrototypeOf(proposal) !== Object.prototype) return false;
  const { key, limit, route, slippageBps } = proposal;
  if (slippageBps !== undefined && !Number.isFinite(slippageBps)) return false;
  const optional = (key === undefined ? 0 : 1) + (limit === undefined ? 0 : 1) + (route === undefined ? 0 : 1)
    + (slippageBps === undefined ? 0 : 1);
  return Object.keys(proposal).length === ALWAYS_THERE + optional;
}
