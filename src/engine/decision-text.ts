import { canonicalJson } from '../core/json.ts';
import type { Proposal, SwapProposal } from '../trading/proposal.ts';
import type { Decision } from '../trading/step.ts';

/**
 * Returns the text of a decision that is hashed, byte for byte what `canonicalJson` returns. Nearly all decisions are
 * about swaps, whose members are known: written down here in their order, they need no sorting, and one call of the
 * runtime's own writer does the rest, three times as fast.
 */
export function decisionText(decision: Decision): string {
  const { at, code, proposal, seq, strategy, verdict } = decision;
  if (!isPlainSwap(proposal) || !Number.isFinite(at) || !Number.isFinite(seq)) return canonicalJson(decision);
  const { amount, inputMint, key, limit, outputMint, reason, route, slippageBps } = proposal;
  return JSON.stringify({
    at,
    code,
    proposal: { amount: `${amount}`, inputMint, key, kind: 'swap', limit: limit === undefined ? undefined : `${limit}`, outputMint, reason, route, slippageBps },
    seq,
    strategy,
    verdict,
  });
}

type PlainSwap = SwapProposal & { readonly amount: bigint | 'all' };

/** `kind`, `inputMint`, `outputMint`, `amount` and `reason`. */
const ALWAYS_THERE = 5;

/** Whether a proposal has the members of a swap and no others, as many as are known to be there, and the runtime's writer says them all. */
function isPlainSwap(proposal: Proposal): proposal is PlainSwap {
  if (proposal.kind !== 'swap' || typeof proposal.amount === 'object' || Object.getPrototypeOf(proposal) !== Object.prototype) return false;
  const { key, limit, route, slippageBps } = proposal;
  if (slippageBps !== undefined && !Number.isFinite(slippageBps)) return false;
  const optional = (key === undefined ? 0 : 1) + (limit === undefined ? 0 : 1) + (route === undefined ? 0 : 1) + (slippageBps === undefined ? 0 : 1);
  return Object.keys(proposal).length === ALWAYS_THERE + optional;
}
