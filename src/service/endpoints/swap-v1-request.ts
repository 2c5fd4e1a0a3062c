import type { Amount } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import type { RawJson } from '../gateway.ts';
import type { QuoteTerms } from '../wire/v1-answers.ts';

/** Everything a quote of V1 can be asked for. */
export interface QuoteRequest {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** Of the input with ExactIn, of the output with ExactOut. */
  readonly amount: Amount;
  /** 0 to 65535; 50 by default. Of the output with ExactIn, of the input with ExactOut. */
  readonly slippageBps?: number | undefined;
  /** ExactIn by default; few markets know ExactOut. */
  readonly swapMode?: 'ExactIn' | 'ExactOut' | undefined;
  /** Names of the only markets to use. */
  readonly dexes?: readonly string[] | undefined;
  readonly excludeDexes?: readonly string[] | undefined;
  /** True by default. */
  readonly restrictIntermediateTokens?: boolean | undefined;
  readonly onlyDirectRoutes?: boolean | undefined;
  readonly asLegacyTransaction?: boolean | undefined;
  /** 0 to 65535; whoever passes it passes the feeAccount to `/swap`. */
  readonly platformFeeBps?: number | undefined;
  /** A rough estimate; 64 by default. */
  readonly maxAccounts?: bigint | undefined;
  /** V1 by default. */
  readonly instructionVersion?: 'V1' | 'V2' | undefined;
  /** Says nothing here any more; `/swap` has it. */
  readonly dynamicSlippage?: boolean | undefined;
  readonly forBundle?: boolean | undefined;
}

/** A quote as it is read, as it came (which is how it goes back), and what was asked for where that is known. */
export interface QuoteAnswer extends QuoteTerms {
  readonly raw: RawJson;
  /** Undefined in a quote from elsewhere: the answer does not tell it. */
  readonly asked?: Pick<QuoteRequest, 'platformFeeBps' | 'asLegacyTransaction' | 'instructionVersion'> | undefined;
}

/** How much of a priority is paid for, up to a limit. */
export interface PriorityLevel {
  readonly priorityLevel: 'medium' | 'high' | 'veryHigh';
  readonly maxLamports: number;
  /** Measured over the whole chain instead of the accounts of the swap; false by default. */
  readonly global?: boolean | undefined;
}

/**
 * A priority fee or a tip, not both: lamports, the service's choice, a level with a limit, or a tip with or without its
 * payer.
 */
export type PrioritizationFee =
  | number
  | 'auto'
  | { readonly priorityLevelWithMaxLamports: PriorityLevel }
  | { readonly bundleTipLamports: number }
  | { readonly bundleTipLamportsWithPayer: { readonly lamports: number; readonly payer: string } };

/** What makes a transaction, or its instructions, of a quote of V1. */
export interface QuoteSwapRequest {
  readonly userPublicKey: string;
  readonly quoteResponse: QuoteAnswer;
  /** Pays fees and rent in the user's place. */
  readonly payer?: string | undefined;
  /** True by default; false needs a wrapped-SOL account that exists. */
  readonly wrapAndUnwrapSol?: boolean | undefined;
  /** The service's choice by default. */
  readonly useSharedAccounts?: boolean | undefined;
  /** A token account of the input or the output; needed where the quote was asked for with platformFeeBps. */
  readonly feeAccount?: string | undefined;
  readonly trackingAccount?: string | undefined;
  readonly prioritizationFeeLamports?: PrioritizationFee | undefined;
  /** As in the quote. */
  readonly asLegacyTransaction?: boolean | undefined;
  readonly destinationTokenAccount?: string | undefined;
  /** A wallet that gets the output, where that is SOL and the instructions are V2. */
  readonly nativeDestinationAccount?: string | undefined;
  readonly dynamicComputeUnitLimit?: boolean | undefined;
  readonly skipUserAccountsRpcCalls?: boolean | undefined;
  readonly dynamicSlippage?: boolean | undefined;
  readonly computeUnitPriceMicroLamports?: bigint | undefined;
  /** 0 to 255. */
  readonly blockhashSlotsToExpiry?: number | undefined;
}
