import type { SwapRequest } from '../../trading/swap-order.ts';

/** Everything an order can be asked for. What is left out is the service's to choose. */
export interface OrderRequest extends SwapRequest {
  /** A wallet, not a token account, that gets the output in the taker's place. */
  readonly receiver?: string | undefined;
  readonly swapMode?: 'ExactIn' | undefined;
  /** Gets the referral fee; only together with it. */
  readonly referralAccount?: string | undefined;
  /** Basis points, 50 to 255. */
  readonly referralFee?: number | undefined;
  /** Pays signatures, priority and rent in the taker's place. */
  readonly payer?: string | undefined;
  readonly priorityFeeLamports?: bigint | undefined;
  readonly bundleTipLamports?: bigint | undefined;
  /** Whether the two fees above are the most or exact; without one of them it says nothing. */
  readonly broadcastFeeType?: 'maxCap' | 'exactFee' | undefined;
  /** Names of markets that the router iris must not use. */
  readonly excludeDexes?: readonly string[] | undefined;
}

/** Everything a build can be asked for; ExactIn always. */
export interface BuildRequest extends Omit<SwapRequest, 'excludeRouters' | 'taker'> {
  readonly taker: string;
  /** A quicker answer with a worse route. */
  readonly mode?: 'fast' | undefined;
  /** Names of the only markets to use. */
  readonly dexes?: readonly string[] | undefined;
  readonly excludeDexes?: readonly string[] | undefined;
  /** A fee of our own, 0 to 10000; a positive one needs the account that gets it. */
  readonly platformFeeBps?: number | undefined;
  readonly feeAccount?: string | undefined;
  /** 1 to 64; 64 by default. */
  readonly maxAccounts?: number | undefined;
  /** Pays fees and rent; the taker by default. */
  readonly payer?: string | undefined;
  /** True by default. */
  readonly wrapAndUnwrapSol?: boolean | undefined;
  /** A token account that gets the output. */
  readonly destinationTokenAccount?: string | undefined;
  /** A wallet that gets the output, where that is SOL. */
  readonly nativeDestinationAccount?: string | undefined;
  /** 1 to 300; 150 by default. */
  readonly blockhashSlotsToExpiry?: number | undefined;
}

/** A transaction that came from an order, signed. */
export interface ExecuteRequest {
  readonly signedTransaction: Uint8Array;
  /** The order's own. */
  readonly requestId: string;
  readonly lastValidBlockHeight?: bigint | undefined;
}
