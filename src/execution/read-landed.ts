import { GannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Attempt, LandedSwap } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { Chain, SignatureStatus } from './ports.ts';

/**
 * SOL that comes or goes beside a swap and cannot be told from it: tips, deposits lent by whoever pays the fee and paid
 * back.
 */
const BESIDE_MAX_LAMPORTS = 10_000_000n;

/** An attempt that its node says has landed. */
export interface SeenLanded {
  readonly intent: Intent;
  readonly attempt: Attempt;
  /** The transaction's id. */
  readonly signature: string;
  readonly status: SignatureStatus;
}

/**
 * Returns what an attempt that has landed did to the wallet; undefined while the node does not give it. Behind one
 * address there can be several nodes, and what two of them say of one transaction, or one with half its data, may not
 * be true together: that throws CHAIN_RESPONSE_INVALID and is nothing to book. What other faults of the node throw, it
 * throws too.
 */
export async function readLanded(
  { chain, owner }: { readonly chain: Pick<Chain, 'landedSwap'>; readonly owner: string },
  { intent, attempt, signature, status }: SeenLanded,
): Promise<LandedSwap | undefined> {
  const { inputMint, outputMint } = intent;
  const landed = await chain.landedSwap({ signature, owner, inputMint, outputMint });
  if (landed === undefined) return undefined;
  const contradiction = contradictionOf(status, landed) ?? impossibleAmount(intent, attempt, landed);
  if (contradiction === undefined) return landed;
  throw new GannetError(
    'CHAIN_RESPONSE_INVALID', `transaction ${signature}: ${contradiction}; it is not booked before the answers agree`,
    { details: { signature } },
  );
}

function contradictionOf(status: SignatureStatus, landed: LandedSwap): string | undefined {
  if ((status.error === undefined) === (landed.error === undefined)) return undefined;
  return `its status says that it ${endOf(status)}, the transaction itself that it ${endOf(landed)}`;
}

function endOf({ error }: Pick<SignatureStatus, 'error'>): string {
  return error === undefined ? 'succeeded' : `failed with ${error.code}`;
}

/**
 * The signer saw to it that no more leaves and no less arrives; what is far from that was not read from whole balances.
 */
function impossibleAmount(
  { inputMint, outputMint, amountIn }: Intent, { threshold, quotedOut }: Attempt, landed: LandedSwap,
): string | undefined {
  if (landed.error !== undefined) return undefined;
  if (landed.amountIn === 0n || landed.amountIn > amountIn + beside(inputMint)) {
    return `expected that it swapped ${amountIn} of ${inputMint} or less, got ${landed.amountIn}`;
  }
  if (landed.amountOut > mostReceived({ outputMint }, { quotedOut }))
    return `expected that it brought about ${quotedOut} of ${outputMint}, got ${landed.amountOut}`;
  // Half of it: a token may keep a part of every transfer for its issuer.
  if ((landed.amountOut + beside(outputMint)) * 2n >= threshold) return undefined;
  return `expected that it brought ${threshold} of ${outputMint} or more, got ${landed.amountOut}`;
}

/** Returns more than an attempt can bring of its output, smallest units: an amount above it was not read right. */
export function mostReceived(
  { outputMint }: Pick<Intent, 'outputMint'>, { quotedOut }: Pick<Attempt, 'quotedOut'>,
): bigint {
  return quotedOut * 4n + beside(outputMint);
}

function beside(mint: Mint): bigint {
  return mint === SOL_MINT ? BESIDE_MAX_LAMPORTS : 0n;
}
