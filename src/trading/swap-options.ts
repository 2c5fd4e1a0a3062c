import type { Intent } from './intent.ts';
import type { Route } from './proposal.ts';
import type { Bps } from '../core/amount.ts';

/** The parameters of an order that the operator may set. The service chooses those that are left out. */
export interface OrderOptions {
  /** A wallet, not a token account, that gets the output in the taker's place. */
  readonly receiver?: string | undefined;
  /** Gets the referral fee; only together with it. */
  readonly referralAccount?: string | undefined;
  /** Basis points, 50 to 255. */
  readonly referralFee?: number | undefined;
  /** Pays signatures, priority and rent in the taker's place. */
  readonly payer?: string | undefined;
  readonly priorityFeeLamports?: bigint | undefined;
  readonly bundleTipLamports?: bigint | undefined;
  /** Whether the two fees above are maxima or exact; without one of them it has no effect. */
  readonly broadcastFeeType?: 'maxCap' | 'exactFee' | undefined;
  /** Routers that must not be used. */
  readonly excludeRouters?: readonly string[] | undefined;
  /** Names of markets that the router iris must not use. */
  readonly excludeDexes?: readonly string[] | undefined;
}

/** The parameters of a build that the operator may set. */
export interface BuildOptions {
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

/** How the swaps of a strategy are requested. */
export interface SwapOptions {
  /** Of every swap, whatever the strategy proposes; the strategy chooses where absent. */
  readonly route?: Route | undefined;
  /** Whether the service chooses slippage and routing of an order; our own caps bind either way. */
  readonly isAutomatic: boolean;
  readonly order: OrderOptions;
  readonly build: BuildOptions;
}

/** The options of a swap for which nothing is configured. */
export const NO_SWAP_OPTIONS: SwapOptions = { isAutomatic: false, order: {}, build: {} };

/**
 * Returns the options of one swap. Only entries are paid to another receiver: what an exit brings stays in the wallet,
 * where the strategy and its protections count on it.
 */
export function optionsOf({ purpose }: Pick<Intent, 'purpose'>, options: SwapOptions): SwapOptions {
  if (purpose === 'entry') return options;
  const { receiver: _receiver, ...order } = options.order;
  const { destinationTokenAccount: _token, nativeDestinationAccount: _native, ...build } = options.build;
  return { ...options, order, build };
}

/** Returns the account that gets a swap's output in the wallet's place; undefined where the wallet does. */
export function receiverOf({ order, build }: SwapOptions, route: Route): string | undefined {
  return route === 'order' ? order.receiver : build.destinationTokenAccount ?? build.nativeDestinationAccount;
}

/** Returns the share of a swap that goes to an account of the operator, in basis points; 0 without one. */
export function ownFeeBps({ order, build }: SwapOptions, route: Route): Bps {
  return ((route === 'order' ? order.referralFee : build.platformFeeBps) ?? 0) as Bps;
}
