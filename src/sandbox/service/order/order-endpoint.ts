import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.ts';
import { withoutMembers } from '../host-traits.ts';
import { RequestError } from '../http/request-error.ts';
import { orderAnswer } from './order-answer.ts';
import { quoteOrder, type OrderQuote } from './order-quote.ts';
import { parseOrderRequest, type OrderRequest } from './order-request.ts';
import type { BuiltOrder } from './order-transaction.ts';
import { orderTransaction, requireWallet } from './order-transaction.ts';

/** Serves `GET /swap/v2/order`: a quote and, for a taker, a transaction to sign. */
export function registerOrder(app: FastifyInstance, context: ServiceContext): void {
  app.get('/swap/v2/order', (request, reply) => {
    const requestId = context.nextId();
    try {
      return reply.send(answerOrder(context, { requestId, query: request.query }));
    } catch (error) {
      // Refusals of this endpoint have the id of their log entry.
      if (error instanceof RequestError && error.statusCode === 400)
        throw new RequestError(400, { requestId, ...error.body });
      throw error;
    }
  });
}

function answerOrder(context: ServiceContext, { requestId, query }: { requestId: string; query: unknown }): object {
  const startedMs = context.stopwatchMs();
  const request = parseOrderRequest(query, context.profile);
  if (request.receiver !== undefined) requireWallet(context, request.receiver);
  const quote = quoteOrder(context, request);
  const { taker } = request;
  const built = taker === undefined ? undefined : orderTransaction(context, { ...request, taker }, quote);
  if (built?.kind === 'built') remember(context, { requestId, request, quote, built });
  const answer = orderAnswer(context, { requestId, request, quote, built });
  const totalTime = Number((context.stopwatchMs() - startedMs).toFixed(3));
  return withoutMembers({ ...answer, totalTime }, context.traits.absent.order);
}

function remember(context: ServiceContext, order: {
  requestId: string; request: OrderRequest; quote: OrderQuote; built: BuiltOrder;
}): void {
  const { requestId, request, quote, built } = order;
  context.orders.add({
    requestId,
    router: quote.router,
    message: built.message.bytes,
    signers: built.message.signers,
    cosigner: built.cosigner,
    inputMint: request.inputMint,
    outputMint: request.outputMint,
    inAmount: request.amount,
    inUsd: quote.inUsd,
    lastValidBlockHeight: built.lastValidBlockHeight,
    ...(quote.router === 'rfqz'
      ? {
          path: [],
          fee: { side: 'output', bps: quote.platformBps },
          firm: {
            outAmount: quote.firm.outAmount, expireAtUnixSeconds: quote.firm.expireAtUnixSeconds,
            taker: request.taker!, hasReferrer: request.referral !== undefined,
          },
        }
      : { path: quote.priced.route.hops, fee: quote.priced.fee }),
  });
}
