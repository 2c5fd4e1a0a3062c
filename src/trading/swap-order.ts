import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';

/** What is asked of the service: a quote without a taker, a transaction to sign with one. */
export interface SwapRequest {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  /** The wallet that signs; base58. */
  readonly taker?: string | undefined;
  /** Chosen by the service where absent. */
  readonly slippageBps?: number | undefined;
  /** Routers that must not be used. */
  readonly excludeRouters?: readonly string[] | undefined;
}

/** The terms both ways of swapping share, as the service states them; checked against the request by who uses them. */
export interface SwapTerms {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: Amount;
  readonly outAmount: Amount;
  /** The least output after slippage. */
  readonly threshold: Amount;
  readonly slippageBps?: number | undefined;
  /** Signed fraction, negative is worse; undefined where the service does not say. */
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
  /** Who pays for the signatures, and so signs first: its signature is the transaction's id. */
  readonly signatureFeePayer?: string | undefined;
  readonly maker?: string | undefined;
  readonly expireAt?: Millis | undefined;
  /** Why no transaction could be built; what the number means depends on the router. */
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

/**
 * What the service says of a transaction given to it. That it says nothing is no answer: a fault, and the outcome
 * unknown.
 */
export type ExecuteAnswer =
  | { readonly status: 'success'; readonly signature: string }
  | { readonly status: 'failed'; readonly code: number; readonly signature?: string | undefined; readonly error?: string
    | undefined };
