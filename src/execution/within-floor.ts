import type { Bps } from '../core/amount.ts';
import type { Intent } from '../trading/intent.ts';
import type { SwapTerms } from '../trading/swap-order.ts';
import { minimumOut, slippageFor } from '../trading/terms.ts';

/**
 * Asks with the slippage that is allowed, and once more with less where the floor on the output leaves less room for
 * it.
 */
export async function withinFloor<T extends SwapTerms>(
  intent: Intent, ask: (slippageBps: Bps) => Promise<T>,
): Promise<T> {
  const first = await ask(intent.maxSlippageBps);
  const tighter = slippageFor(intent, first.outAmount);
  return tighter < intent.maxSlippageBps && first.threshold < minimumOut(intent, first.outAmount)
    ? ask(tighter) : first;
}
