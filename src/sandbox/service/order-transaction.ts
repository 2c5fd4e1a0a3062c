import type { OrderTransaction, TakerRequest } from './built-order.ts';
import type { ServiceContext } from './context.ts';
import { firmTransaction } from './firm-transaction.ts';
import type { OrderQuote } from './order-quote.ts';
import { pooledTransaction } from './pooled-transaction.ts';

/**
 * Returns the transaction of a quote for its taker, or why there is none. Throws a RequestError (400) where the
 * receiver cannot be paid.
 */
export function orderTransaction(context: ServiceContext, request: TakerRequest, quote: OrderQuote): OrderTransaction {
  return quote.router === 'rfqz' ? firmTransaction(context, request, quote)
    : pooledTransaction(context, request, quote);
}
