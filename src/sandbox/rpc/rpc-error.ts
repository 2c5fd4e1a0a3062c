/** Codes of JSON-RPC 2.0, and those that Solana nodes add. */
export const RPC_CODE = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockCleanedUp: -32001,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const;

/** What a method answers instead of a result. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Returns the error of a parameter that is not what the method takes. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, `Invalid params: ${message}`);
}
