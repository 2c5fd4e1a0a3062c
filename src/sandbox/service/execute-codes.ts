/** Who fills an order: the pools by transaction alone, or a maker. */
export type Family = 'pools' | 'maker';

/** What is wrong, or came of it, in the service's words. */
export interface ExecuteReason {
  readonly code: number;
  readonly error: string;
}

/**
 * The codes of /execute and their words. What was never sent is refused with HTTP 400; the rest is a result, HTTP 200.
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
