import type { FastifyInstance } from 'fastify';
import type { PredictionLevel } from '../market/prediction-market.ts';
import type { ServiceContext } from './context.ts';
import { RequestError } from './request-error.ts';

const PER_CENT = 100;
const PER_DOLLAR = 10_000;
const DOLLAR_DIGITS = 4;
const LONGEST_ID = 128;

/** Serves `GET /prediction/v1/orderbook/{marketId}`: the bids of both sides, or null where there is no book. */
export function registerOrderbook(app: FastifyInstance, context: ServiceContext): void {
  app.get<{ Params: { marketId: string } }>('/prediction/v1/orderbook/:marketId', (request, reply) => {
    const { marketId } = request.params;
    if (marketId === '' || marketId.length > LONGEST_ID) {
      throw invalidRequest(400, { message: `marketId: expected 1 to ${LONGEST_ID} characters`, code: 'invalid_market_id', requestId: context.nextId() });
    }
    const market = context.market.prediction(marketId);
    if (market === undefined) throw invalidRequest(404, { message: 'Market not found', code: 'market_not_found', requestId: context.nextId() });
    const book = market.book();
    const answer = book === null ? null : {
      yes: book.yes.map(inCents),
      no: book.no.map(inCents),
      yes_dollars: book.yes.map(inDollars),
      no_dollars: book.no.map(inDollars),
    };
    // `send(null)` would be an empty body, which is not the JSON null of the reference.
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer));
  });
}

/** Cents are rounded: a level below half a cent shows as 0, and two levels may show the same price. */
function inCents({ price, size }: PredictionLevel): [number, number] {
  return [Math.round(price / PER_CENT), size];
}

function inDollars({ price, size }: PredictionLevel): [string, number] {
  return [(price / PER_DOLLAR).toFixed(DOLLAR_DIGITS), size];
}

function invalidRequest(statusCode: number, reason: { message: string; code: string; requestId: string }): RequestError {
  const { message, code, requestId } = reason;
  return new RequestError(statusCode, { type: 'invalid_request_error', message, code, param: 'marketId', request_id: requestId });
}
