import type { Amount, Lamports } from '../core/amount.ts';
import type { Intent, Outcome } from './intent.ts';
import { outcomeOf } from './intent.ts';
import type { SwapTerms } from './swap-order.ts';
import { minimumOut } from './terms.ts';

/**
 * How kindly the world is taken. optimistic: the price at the decision, at once. base: the price known on arrival.
 * pessimistic: always the least the slippage allows, as if every swap were sandwiched.
 */
export type SimulationSetting = 'optimistic' | 'base' | 'pessimistic';

/** One signature costs 5,000 lamports, landed or failed. */
export const BASE_FEE = 5_000n as Lamports;

/** An arrival at a price that may have moved since the quote was accepted. */
export interface SimulatedArrival {
  readonly intent: Intent;
  readonly accepted: SwapTerms;
  /** What the swap would bring on arrival; 0 where nobody buys any more. */
  readonly outAmount: Amount;
  readonly setting: SimulationSetting;
  readonly feeLamports: Lamports;
  /** Laid down for accounts opened on the way, where it lands; left out, nothing. */
  readonly rentLamports?: Lamports | undefined;
}

/**
 * Returns the landing that the chain would report: a fill, or the slippage failure (6001), which costs its fee all the
 * same.
 */
export function landSimulated(
  { intent, accepted, outAmount, setting, feeLamports, rentLamports = 0n as Lamports }: SimulatedArrival,
): Outcome {
  const { router, outAmount: quotedOut } = accepted;
  const least = minimumOut(intent, accepted.outAmount);
  if (outAmount < least) {
    return outcomeOf(intent.id, 'failed', {
      router, quotedOut, code: '6001', reason: 'slippage tolerance exceeded', feeLamports,
    });
  }
  return outcomeOf(intent.id, 'confirmed', {
    router,
    quotedOut,
    fill: {
      inputMint: intent.inputMint,
      outputMint: intent.outputMint,
      amountIn: intent.amountIn,
      amountOut: setting === 'pessimistic' ? least : outAmount,
      feeLamports,
      rentLamports,
    },
  });
}
