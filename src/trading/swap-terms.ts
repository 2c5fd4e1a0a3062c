import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Intent } from './intent.ts';

/** A request to the service: for a quote without a taker, for a transaction to sign with one. */
export interface SwapRequest {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  /** The wallet that signs; base58. */
  readonly taker?: string | undefined;
  /** Chosen by the service where absent. */
  readonly slippageBps?: number | undefined;
}

/** The terms of both routes, as the service states them. `refuseTerms` checks them against the intent. */
export interface SwapTerms {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: Amount;
  readonly outAmount: Amount;
  /** The least output after slippage. */
  readonly threshold: Amount;
  readonly slippageBps?: number | undefined;
  /** Signed fraction, negative is worse; undefined where the service does not state it. */
  readonly priceImpact?: number | undefined;
  /** All fees the service takes, in bps of the trade; 0 where it takes none. */
  readonly feeBps: number;
  readonly router: string;
  readonly contextSlot?: bigint | undefined;
}

/** A quote with an assembled transaction, to be signed and landed by the service. */
export interface SwapOrder extends SwapTerms {
  readonly requestId?: string | undefined;
  readonly taker?: string | undefined;
  /** The unsigned (or partly signed) transaction; undefined without a taker or where it could not be built. */
  readonly transaction?: Uint8Array | undefined;
  readonly lastValidBlockHeight?: bigint | undefined;
  /** The fee payer, which signs first: its signature is the transaction's id. */
  readonly signatureFeePayer?: string | undefined;
  readonly maker?: string | undefined;
  readonly expireAt?: Millis | undefined;
  /** Why no transaction could be built; the meaning of the number depends on the router. */
  readonly buildError?: { readonly code: number | undefined; readonly message: string } | undefined;
}

/** One instruction of a transaction that is composed here. */
export interface SwapInstruction {
  readonly programId: string;
  readonly accounts: readonly { readonly pubkey: string; readonly isSigner: boolean; readonly isWritable: boolean }[];
  readonly data: Uint8Array;
}

/** A quote with raw instructions, to be composed, signed and landed through an RPC. */
export interface SwapBuild extends SwapTerms {
  readonly computeBudgetInstructions: readonly SwapInstruction[];
  readonly setupInstructions: readonly SwapInstruction[];
  readonly swapInstruction: SwapInstruction;
  readonly cleanupInstruction?: SwapInstruction | undefined;
  readonly otherInstructions: readonly SwapInstruction[];
  /** Lookup table address → the addresses it holds. */
  readonly lookupTables: Readonly<Record<string, readonly string[]>>;
  /** Base58. */
  readonly blockhash: string;
  readonly lastValidBlockHeight: bigint;
}

/** The service's answer to a submitted transaction. A missing answer is a fault, and the outcome is unknown. */
export type ExecuteAnswer = {
  /** The id that the host gave to the request, safe to print. */
  readonly gatewayRequestId?: string | undefined;
} & (
  | { readonly status: 'success'; readonly signature: string }
  | { readonly status: 'failed'; readonly code: number; readonly signature?: string | undefined; readonly error?: string
    | undefined });

/** The code of a quote that does not fit an intent; nothing was signed. */
type TermsCode =
  | 'TERMS_MISMATCH'
  | 'SLIPPAGE_EXCEEDS_MAX'
  | 'IMPACT_EXCEEDS_MAX'
  | 'IMPACT_UNKNOWN'
  | 'FEE_EXCEEDS_MAX'
  | 'LIMIT_NOT_MET';

interface TermsRefusal {
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
 * Returns why the terms of a quote do not fit an intent, or undefined where they do. The terms must match the request,
 * and stay within the intent's own caps. A figure that the service does not state counts as too high.
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
    return { code: 'IMPACT_UNKNOWN', reason: 'the service does not state the price impact' };
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

/**
 * Error numbers of the service's swap program for an output below the minimum, or an input above the maximum. Nodes
 * write them in decimal, some tools in hex.
 */
const SLIPPAGE_NUMBERS: ReadonlySet<number> = new Set([6_001, 6_017]);
/** Names of the same error, letters only. */
const SLIPPAGE_NAMES: ReadonlySet<string> = new Set([
  'slippagetoleranceexceeded', 'exceededslippage', 'slippageexceeded', 'exactoutamountnotmatched',
  'amountoutbelowminimum',
]);

/** Returns whether a transaction's error code means exceeded slippage: "6001", "0x1771" or a name. */
export function isSlippageCode(code: string | undefined): boolean {
  if (code === undefined) return false;
  if (/^(?:\d{1,10}|0x[\da-f]{1,8})$/i.test(code)) return SLIPPAGE_NUMBERS.has(Number(code));
  return SLIPPAGE_NAMES.has(code.toLowerCase().replace(/[^a-z]/g, ''));
}
