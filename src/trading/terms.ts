import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import type { Intent } from './intent.ts';
import type { SwapTerms } from './swap-order.ts';

/** Why a quote is not acceptable for an intent; nothing was signed. */
export type TermsCode =
  | 'TERMS_MISMATCH'
  | 'SLIPPAGE_EXCEEDS_MAX'
  | 'IMPACT_EXCEEDS_MAX'
  | 'IMPACT_UNKNOWN'
  | 'FEE_EXCEEDS_MAX'
  | 'LIMIT_NOT_MET';

export interface TermsRefusal {
  readonly code: TermsCode;
  readonly reason: string;
}

/**
 * Returns the least output an intent accepts from a quote of `outAmount`: our own slippage cap, and the strategy's
 * floor.
 */
export function minimumOut(intent: Intent, outAmount: Amount): Amount {
  const bySlippage = afterSlippage(outAmount, intent.maxSlippageBps);
  return intent.minimumOut !== undefined && intent.minimumOut > bySlippage ? intent.minimumOut : bySlippage;
}

/**
 * Returns the slippage to ask for at an output: the cap, or less where a floor on the output leaves less room; whole
 * bps, floored.
 */
export function slippageFor(intent: Intent, outAmount: Amount): Bps {
  const { minimumOut: floor, maxSlippageBps } = intent;
  if (floor === undefined || outAmount < floor) return maxSlippageBps;
  return Math.min(maxSlippageBps, Number(((outAmount - floor) * 10_000n) / outAmount)) as Bps;
}

/**
 * Returns why the terms of a quote do not fit an intent, or undefined where they do: the answer must be to our
 * question, and within our own caps whatever the service chose. What the service does not say counts as too much.
 */
export function refuseTerms(intent: Intent, terms: SwapTerms): TermsRefusal | undefined {
  if (terms.inputMint !== intent.inputMint || terms.outputMint !== intent.outputMint
      || terms.inAmount !== intent.amountIn) {
    return {
      code: 'TERMS_MISMATCH',
      reason: `asked for ${intent.amountIn} of ${intent.inputMint} to ${intent.outputMint}, got ${terms.inAmount} of `
        + `${terms.inputMint} to ${terms.outputMint}`,
    };
  }
  const wanted = intent.minimumOut !== undefined && intent.minimumOut > 0n ? intent.minimumOut : 1n;
  if (terms.outAmount < wanted) {
    return {
      code: 'LIMIT_NOT_MET',
      reason: `${terms.outAmount} of ${intent.outputMint} offered, at least ${wanted} of ${intent.outputMint} wanted`,
    };
  }
  const least = minimumOut(intent, terms.outAmount);
  if (terms.threshold < least || terms.threshold > terms.outAmount) {
    return { code: 'SLIPPAGE_EXCEEDS_MAX', reason: `at least ${terms.threshold} of ${intent.outputMint} promised, at `
      + `least ${least} of ${intent.outputMint} wanted` };
  }
  if (terms.priceImpact === undefined)
    return { code: 'IMPACT_UNKNOWN', reason: 'the service does not say the price impact' };
  // Compared as fractions: multiplied to bps, an impact of exactly the limit would often come out a rounding error
  // above it.
  const impact = Math.max(0, -terms.priceImpact);
  if (!(impact <= intent.maxPriceImpactBps / 10_000)) {
    return {
      code: 'IMPACT_EXCEEDS_MAX',
      reason: `${(impact * 10_000).toFixed(1)} bps, allowed are ${intent.maxPriceImpactBps}`,
    };
  }
  if (!(terms.feeBps <= intent.maxFeeBps)) {
    return { code: 'FEE_EXCEEDS_MAX', reason: `${terms.feeBps} bps, allowed are ${intent.maxFeeBps}` };
  }
  return undefined;
}
