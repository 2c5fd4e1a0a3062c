/** What a transaction must come to: the terms of the intent, and what it may cost. All addresses in base58. */
export interface Expectation {
  readonly wallet: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** All that may leave the wallet of the input, smallest units, fees in it included. */
  readonly amountIn: bigint;
  /** What must arrive at least, after all fees. */
  readonly minimumOut: bigint;
  /** The market maker who is the other side of the trade; may sign, and pay the fee. */
  readonly maker?: string | undefined;
  /** Who pays the fee in the wallet's place. */
  readonly feePayer?: string | undefined;
  /** Who gets the output in the wallet's place: another wallet, or a token account of the output. */
  readonly receiver?: string | undefined;
  /** For signatures and priority together, where the wallet pays them. */
  readonly maxFeeLamports: bigint;
  /** For tips together; left out, none. */
  readonly maxTipLamports?: bigint | undefined;
  /** Who may be tipped; left out, anybody within the limit. */
  readonly tipAccounts?: readonly string[] | undefined;
  /** The share of the swap that may go to third parties; left out, what `usualPlatformFeeBps` says. */
  readonly maxPlatformFeeBps?: number | undefined;
  /** Who may get it; left out, anybody within the limit. */
  readonly feeAccounts?: readonly string[] | undefined;
  /** Whether the service made the transaction, or we did of its instructions. */
  readonly route: 'order' | 'build';
}

/** Covers 1,000,000 lamports of priority, the most that is composed here, and a few signatures. */
export const USUAL_MAX_FEE_LAMPORTS = 1_020_000n;

const ORDER_FEE_BPS = 300;
/** Whoever pays the network's fees in the wallet's place keeps them, and rent, out of the swap. */
const SPONSORED_FEE_BPS = 1_000;

/** Returns the share of the swap that third parties may get where nobody set a limit: none of a build, for there a fee is only ever our own wish. */
export function usualPlatformFeeBps({ route, wallet, feePayer = wallet }: Pick<Expectation, 'route' | 'wallet' | 'feePayer'>): number {
  if (route === 'build') return 0;
  return feePayer === wallet ? ORDER_FEE_BPS : SPONSORED_FEE_BPS;
}
