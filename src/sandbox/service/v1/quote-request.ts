import { createParameters } from '../http/parameters.ts';
import { RequestError, badRequest } from '../http/request-error.ts';
import type { RouteLimits } from '../routing/routing.ts';

/** The checked parameters of `GET /swap/v1/quote`. */
export interface QuoteRequest {
  readonly inputMint: string;
  readonly outputMint: string;
  /** Of the input with ExactIn, of the output with ExactOut. */
  readonly amount: bigint;
  readonly swapMode: 'ExactIn' | 'ExactOut';
  readonly slippageBps: number;
  readonly limits: RouteLimits;
  readonly restrictIntermediateTokens: boolean;
  readonly onlyDirectRoutes: boolean;
  readonly asLegacyTransaction: boolean;
  /** Undefined where the request names no fee: then `/swap` asks for no account. */
  readonly platformFeeBps: number | undefined;
  readonly instructionVersion: 'V1' | 'V2';
  readonly forBundle: boolean;
}

const UINT16 = { min: 0, max: 65_535 } as const;
const WHOLE_BPS = 10_000;
const MOST_ACCOUNTS = 64n;

/** Returns the request in a query. Throws a RequestError (400) on anything that breaks a rule of the reference. */
export function parseQuoteRequest(query: unknown): QuoteRequest {
  const parameters = createParameters(query);
  const inputMint = parameters.address('inputMint');
  const outputMint = parameters.address('outputMint');
  const amount = parameters.amount('amount');
  const slippageBps = parameters.optionalInteger('slippageBps', UINT16) ?? 50;
  const swapMode = parameters.optionalChoice('swapMode', ['ExactIn', 'ExactOut']) ?? 'ExactIn';
  const dexes = parameters.optionalList('dexes');
  const excludeDexes = parameters.optionalList('excludeDexes');
  if (dexes !== undefined && excludeDexes !== undefined)
    throw badRequest('dexes and excludeDexes: expected one of them, got both');
  const platformFeeBps = parameters.optionalInteger('platformFeeBps', UINT16);
  if (platformFeeBps !== undefined && platformFeeBps >= WHOLE_BPS)
    throw badRequest(`platformFeeBps: expected less than ${WHOLE_BPS}, which is everything, got ${platformFeeBps}`);
  const maxAccounts = parameters.optionalU64('maxAccounts') ?? MOST_ACCOUNTS;
  // Has no effect any more; an invalid value is still refused.
  parameters.optionalBoolean('dynamicSlippage');
  const request: QuoteRequest = {
    inputMint, outputMint, amount, swapMode, slippageBps, platformFeeBps,
    limits: { dexes, excludeDexes, maxAccounts: Number(maxAccounts) },
    restrictIntermediateTokens: parameters.optionalBoolean('restrictIntermediateTokens') ?? true,
    onlyDirectRoutes: parameters.optionalBoolean('onlyDirectRoutes') ?? false,
    asLegacyTransaction: parameters.optionalBoolean('asLegacyTransaction') ?? false,
    instructionVersion: parameters.optionalChoice('instructionVersion', ['V1', 'V2']) ?? 'V1',
    forBundle: parameters.optionalBoolean('forBundle') ?? false,
  };
  if (inputMint === outputMint)
    throw routingError('CIRCULAR_ARBITRAGE_IS_DISABLED', 'outputMint: expected another mint than inputMint');
  return request;
}

/** The first version's error codes for a missing route or transaction. */
type RoutingErrorCode =
  | 'CANNOT_COMPUTE_OTHER_AMOUNT_THRESHOLD'
  | 'CIRCULAR_ARBITRAGE_IS_DISABLED'
  | 'COULD_NOT_FIND_ANY_ROUTE'
  | 'FAILED_TO_GET_SWAP_AND_ACCOUNT_METAS'
  | 'INVALID_COMPUTE_UNIT_PRICE_AND_PRIORITIZATION_FEE'
  | 'MAX_ACCOUNT_GREATER_THAN_MAX'
  | 'NO_ROUTES_FOUND'
  | 'NOT_SUPPORTED'
  | 'TOKEN_NOT_TRADABLE';

/** Returns the refusal of a valid request without a result. */
export function routingError(errorCode: RoutingErrorCode, error: string): RequestError {
  return new RequestError(400, { error, errorCode });
}
