import { GannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { isUnreadable, type Attempt, type LandedSwap } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { Chain, Progress, SignatureStatus } from './ports.ts';
import type { Lamports } from '../core/amount.ts';

/** SOL that moves with a swap and is indistinguishable from it: tips, and deposits that a fee payer lends. */
const SIDE_LAMPORTS_MAX = 10_000_000n;

/** An attempt that has landed by its status. */
interface SeenLanded {
  readonly intent: Intent;
  readonly attempt: Attempt;
  /** The transaction's id. */
  readonly signature: string;
  readonly status: SignatureStatus;
}

/**
 * Returns the effect of a landed attempt on the wallet; undefined while the node does not have it. One address can
 * stand for several nodes, whose answers may contradict each other or be incomplete: that throws
 * CHAIN_RESPONSE_INVALID, and nothing is booked. Passes on other faults of the node.
 */
export async function readLanded(
  { chain, owner }: { readonly chain: Pick<Chain, 'landedSwap'>; readonly owner: string },
  { intent, attempt, signature, status }: SeenLanded,
): Promise<LandedSwap | undefined> {
  const { inputMint, outputMint } = intent;
  const { receiver } = attempt;
  const landed = await chain.landedSwap({ signature, owner, inputMint, outputMint, receiver });
  if (landed === undefined) return undefined;
  if (isUnreadable(landed)) throw new GannetError('CHAIN_RESPONSE_INVALID',
    `transaction ${signature} has landed and cannot be read: ${landed.reason}; it is booked once a node gives it, so `
      + 'check the node with "gannet doctor" or add one as chain.further_rpc_urls', { details: { signature } });
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

/** The signer limited both amounts; amounts far beyond the limits come from incomplete balances. */
function impossibleAmount(
  { inputMint, outputMint, amountIn }: Intent, { threshold, quotedOut }: Attempt, landed: LandedSwap,
): string | undefined {
  if (landed.error !== undefined) return undefined;
  if (landed.amountIn === 0n || landed.amountIn > amountIn + sideLamports(inputMint)) {
    return `expected that it swapped ${amountIn} of ${inputMint} or less, got ${landed.amountIn}`;
  }
  if (landed.amountOut > mostReceived({ outputMint }, { quotedOut }))
    return `expected that it brought about ${quotedOut} of ${outputMint}, got ${landed.amountOut}`;
  // Half of it suffices: a token may withhold a part of every transfer for its issuer.
  if ((landed.amountOut + sideLamports(outputMint)) * 2n >= threshold) return undefined;
  return `expected that it brought ${threshold} of ${outputMint} or more, got ${landed.amountOut}`;
}

/** Returns an upper limit on an attempt's output, smallest units; a larger amount was read wrongly. */
export function mostReceived(
  { outputMint }: Pick<Intent, 'outputMint'>, { quotedOut }: Pick<Attempt, 'quotedOut'>,
): bigint {
  return quotedOut * 4n + sideLamports(outputMint);
}

function sideLamports(mint: Mint): bigint {
  return mint === SOL_MINT ? SIDE_LAMPORTS_MAX : 0n;
}

/** Returns the end of an attempt that landed: swapped, or failed at the cost of its fee. */
export function landedProgress(intent: Intent, attempt: Attempt, landed: LandedSwap): Progress {
  const { signature, slot, error, amountIn, amountOut, feeLamports, tipLamports, rentLamports } = landed;
  const { router, quotedOut, receiver } = attempt;
  if (error !== undefined)
    return { state: 'failed', router, signature, slot, code: error.code, reason: error.message, feeLamports };
  return {
    state: 'confirmed', router, quotedOut, signature, slot,
    fill: {
      inputMint: intent.inputMint, outputMint: intent.outputMint, amountIn, amountOut, feeLamports, rentLamports,
      ...(tipLamports === undefined ? {} : { tipLamports }),
      ...(receiver === undefined ? {} : { receiver }),
    },
  };
}

/** Returns the progress of an attempt that has just been signed. */
export function signedProgress(attempt: Attempt): Progress {
  return {
    state: 'signed',
    router: attempt.router,
    quotedOut: attempt.quotedOut,
    signature: attempt.transactionId,
    messageHash: attempt.messageHash,
    lastValidBlockHeight: attempt.lastValidBlockHeight,
    feePayer: attempt.feePayer,
  };
}

/** Returns a terminal progress with the fees of all attempts; any other unchanged. */
export function withSpent(progress: Progress, spentLamports: Lamports): Progress {
  if (spentLamports === 0n || !isTerminal(progress.state)) return progress;
  const { fill, feeLamports = 0n as Lamports } = progress;
  if (fill !== undefined)
    return { ...progress, fill: { ...fill, feeLamports: (fill.feeLamports + spentLamports) as Lamports } };
  return { ...progress, feeLamports: (feeLamports + spentLamports) as Lamports };
}
