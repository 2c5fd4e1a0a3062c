/** The terms that a transaction must meet: those of the intent, and its maximum costs. All addresses in base58. */
export interface Expectation {
  readonly wallet: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** The most input that may leave the wallet, smallest units, with fees. */
  readonly amountIn: bigint;
  /** The least output that must arrive, after all fees. */
  readonly minimumOut: bigint;
  /** The market maker of the trade; may sign, and pay the fee. */
  readonly maker?: string | undefined;
  /** Pays the fee in the wallet's place. */
  readonly feePayer?: string | undefined;
  /** Gets the output in the wallet's place: another wallet, or a token account of the output. */
  readonly receiver?: string | undefined;
  /** For signatures and priority together, where the wallet pays them. */
  readonly maxFeeLamports: bigint;
  /** For all tips together; by default none. */
  readonly maxTipLamports?: bigint | undefined;
  /** May be tipped; by default any account, within the limit. */
  readonly tipAccounts?: readonly string[] | undefined;
  /** The share of the swap that may go to third parties; by default `usualPlatformFeeBps`. */
  readonly maxPlatformFeeBps?: number | undefined;
  /** May get it; by default any account, within the limit. */
  readonly feeAccounts?: readonly string[] | undefined;
  /**
   * The accounts that a fee of the operator's own may go to, or whose token accounts may, each with its largest share
   * in basis points; by default none.
   */
  readonly ownFees?: ReadonlyMap<string, number> | undefined;
  /** Whether the service made the transaction, or Gannet did from its instructions. */
  readonly route: 'order' | 'build';
}

/** Covers a few signatures. */
export const SIGNATURE_FEES_LAMPORTS = 20_000n;
/** Covers 1,000,000 lamports of priority, the most that Gannet composes by default, and a few signatures. */
export const USUAL_MAX_FEE_LAMPORTS = SIGNATURE_FEES_LAMPORTS + 1_000_000n;
/** Enough for the tips that services add by themselves, and a tenth of what priority may cost (D-344). */
export const USUAL_MAX_TIP_LAMPORTS = 100_000n;
/** The most that the signer's settings can allow; a larger transfer is no tip. */
export const MOST_TIP_LAMPORTS = 5_000_000n;

const ORDER_FEE_BPS = 300;
/** A sponsor of the network's fees takes them, and rent, out of the swap. */
const SPONSORED_FEE_BPS = 1_000;

/** Returns the default share of the swap that third parties may get; none of a build, where only Gannet adds a fee. */
export function usualPlatformFeeBps(
  { route, wallet, feePayer = wallet }: Pick<Expectation, 'route' | 'wallet' | 'feePayer'>,
): number {
  if (route === 'build') return 0;
  return feePayer === wallet ? ORDER_FEE_BPS : SPONSORED_FEE_BPS;
}
