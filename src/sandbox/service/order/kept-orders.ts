import { createRecent } from '../recent.ts';
import type { SwapFee } from '../routing/platform-fee.ts';
import type { RouteHop, RouterName } from '../routing/routing.ts';

/** How an order is filled: by pools in its transaction, or by a maker. */
export type Family = 'pools' | 'maker';

/** The outcome in the service's words. */
export interface ExecuteReason {
  readonly code: number;
  readonly error: string;
}

/**
 * The codes of /execute and their words. A transaction that was never sent is refused with HTTP 400; all others have a
 * result, HTTP 200.
 */
export const EXECUTE_CODES = {
  orderNotFound: { code: -1, error: 'Order not found, it might have expired' },
  badSignature: { code: -2, error: 'Invalid signed transaction' },
  changedMessage: { code: -3, error: 'Invalid message bytes' },
  missingRequestId: { code: -4, error: 'Missing request id' },
  missingTransaction: { code: -5, error: 'Missing signed transaction' },
  invalidTransaction: {
    pools: { code: -1_002, error: 'Invalid transaction' }, maker: { code: -2_002, error: 'Invalid payload' },
  },
  notFullySigned: { code: -1_003, error: 'Transaction not fully signed' },
  invalidBlockHeight: { code: -1_004, error: 'Invalid block height' },
  unsupportedWallet: { code: -1_007, error: 'Gasless is not supported for this wallet' },
  rejectedByMaker: { code: -2_004, error: 'Swap rejected' },
  slippage: { code: 6_001, error: 'Slippage tolerance exceeded' },
  failedToLand: { pools: { code: -1_000, error: 'Failed to land' }, maker: { code: -2_000, error: 'Failed to land' } },
  unknown: { pools: { code: -1_001, error: 'Unknown error' }, maker: { code: -2_001, error: 'Unknown error' } },
  expired: { pools: { code: -1_005, error: 'Transaction expired' }, maker: { code: -2_003, error: 'Quote expired' } },
} as const;

/** An order that waits for its signature, and its outcome. */
export interface StoredOrder {
  readonly requestId: string;
  readonly router: RouterName;
  readonly message: Uint8Array;
  /** Who must sign, in the message's order. */
  readonly signers: readonly string[];
  /** The one signer whose signature the service adds: the maker, or the account that pays the gas. */
  readonly cosigner: string | undefined;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inAmount: bigint;
  readonly inUsd: number;
  readonly lastValidBlockHeight: number;
  /** The hops of a route through pools; empty for a maker. */
  readonly path: readonly RouteHop[];
  readonly fee: SwapFee;
  /** The maker's promise. */
  readonly firm?: FirmPromise | undefined;
  /** The answer of the first execution and its fully signed bytes. */
  execution?: { readonly transaction: Buffer; readonly answer: object } | undefined;
}

/** A maker's part of an order. */
export interface FirmPromise {
  /** The maker's total payment in smallest units, including a referrer's fee. */
  readonly outAmount: bigint;
  readonly expireAtUnixSeconds: number;
  readonly taker: string;
  readonly hasReferrer: boolean;
}

/** Returns who fills an order. */
export function familyOf({ router }: StoredOrder): Family {
  return router === 'rfqz' ? 'maker' : 'pools';
}

/** The service's memory of its orders. */
export interface Orders {
  readonly size: number;
  add(order: StoredOrder): void;
  find(requestId: string): StoredOrder | undefined;
  remember(order: StoredOrder, execution: { readonly transaction: Buffer; readonly answer: object }): void;
}

/** How long an order is known: two minutes, in which its blockhash expires, and as long again once it was executed. */
const LIFETIME_MS = 120_000;
const LARGEST_COUNT = 50_000;

/** Returns a memory that forgets by `nowMs`, the sandbox's time. */
export function createOrders(options: { nowMs: () => number }): Orders {
  const recent = createRecent<StoredOrder>({ ...options, lifetimeMs: LIFETIME_MS, largestCount: LARGEST_COUNT });
  return {
    get size() {
      return recent.size;
    },
    add: (order) => recent.set(order.requestId, order),
    find: (requestId) => recent.get(requestId),
    remember(order, execution) {
      order.execution = execution;
      recent.set(order.requestId, order);
    },
  };
}
