/** Who fills an order: the pools by transaction alone, or a maker. */
export type Family = 'pools' | 'maker';

/** The codes of /execute and their words. What was never sent is refused with HTTP 400; the rest is a result, HTTP 200. */
export const EXECUTE_CODES = {
  orderNotFound: { code: -1, error: 'Order not found, it might have expired' },
  badSignature: { code: -2, error: 'Invalid signed transaction' },
  changedMessage: { code: -3, error: 'Invalid message bytes' },
  missingRequestId: { code: -4, error: 'Missing request id' },
  missingTransaction: { code: -5, error: 'Missing signed transaction' },
  invalidTransaction: { code: -1_002, error: 'Invalid transaction' },
  notFullySigned: { code: -1_003, error: 'Transaction not fully signed' },
  invalidBlockHeight: { code: -1_004, error: 'Invalid block height' },
  rejectedByMaker: { code: -2_004, error: 'Swap rejected' },
  slippage: { code: 6_001, error: 'Slippage tolerance exceeded' },
  failedToLand: { pools: { code: -1_000, error: 'Failed to land' }, maker: { code: -2_000, error: 'Failed to land' } },
  unknown: { pools: { code: -1_001, error: 'Unknown error' }, maker: { code: -2_001, error: 'Unknown error' } },
  expired: { pools: { code: -1_005, error: 'Transaction expired' }, maker: { code: -2_003, error: 'Quote expired' } },
} as const;
