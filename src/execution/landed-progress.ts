import type { Attempt, LandedSwap } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { Progress } from './journey.ts';

/** Returns the end of an attempt that landed: swapped, or failed at the cost of its fee. */
export function landedProgress(intent: Intent, attempt: Attempt, landed: LandedSwap): Progress {
  const { signature, slot, error, amountIn, amountOut, feeLamports, rentLamports } = landed;
  const { router, quotedOut } = attempt;
  if (error !== undefined)
    return { state: 'failed', router, signature, slot, code: error.code, reason: error.message, feeLamports };
  return {
    state: 'confirmed', router, quotedOut, signature, slot,
    fill: {
      inputMint: intent.inputMint, outputMint: intent.outputMint, amountIn, amountOut, feeLamports, rentLamports,
    },
  };
}

/** Returns what an attempt is from the moment it is signed. */
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
