import { RequestError } from '../request-error.ts';

/** What the first version says, beside words, when it finds no way or cannot make a transaction. */
export type RoutingErrorCode =
  | 'CANNOT_COMPUTE_OTHER_AMOUNT_THRESHOLD'
  | 'CIRCULAR_ARBITRAGE_IS_DISABLED'
  | 'COULD_NOT_FIND_ANY_ROUTE'
  | 'FAILED_TO_GET_SWAP_AND_ACCOUNT_METAS'
  | 'INVALID_COMPUTE_UNIT_PRICE_AND_PRIORITIZATION_FEE'
  | 'MAX_ACCOUNT_GREATER_THAN_MAX'
  | 'NO_ROUTES_FOUND'
  | 'NOT_SUPPORTED'
  | 'TOKEN_NOT_TRADABLE';

/** Returns the refusal of a question that is well formed and has no answer. */
export function routingError(errorCode: RoutingErrorCode, error: string): RequestError {
  return new RequestError(400, { error, errorCode });
}
