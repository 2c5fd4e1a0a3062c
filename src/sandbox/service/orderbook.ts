import type { FastifyInstance } from 'fastify';
import { DOLLAR, type PredictionLevel } from '../market/prediction-market.ts';
import type { ServiceContext } from './context.ts';
import { predictionRoute } from './prediction/prediction-route.ts';

const PER_CENT = 100;
const DOLLAR_DIGITS = 4;

/**
 * Serves `GET /prediction/v1/orderbook/{marketId}`: the bids of both sides, or null where there is no book. The dearest
 * come first by the description, last from the live service.
 */
export function registerOrderbook(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/orderbook/:marketId', param: 'marketId' }, (request) => {
    const { world, profile, slot, id } = request;
    const market = world.market(id);
    if (market === undefined) return request.missing('Market');
    const book = world.venue.book(market, slot);
    if (book === 'unreachable') return request.unreachable('Orderbook');
    if (book === null) return null;
    const sorted = (levels: readonly PredictionLevel[]): PredictionLevel[] =>
      levels.toSorted((a, b) => (profile === 'live' ? a.price - b.price : b.price - a.price));
    const [yes, no] = [sorted(book.yes), sorted(book.no)];
    return {
      yes: yes.map(inCents), no: no.map(inCents), yes_dollars: yes.map(inDollars), no_dollars: no.map(inDollars),
    };
  });
}

/** Cents are rounded: a level below half a cent shows as 0, and two levels may show the same price. */
function inCents({ price, size }: PredictionLevel): [number, number] {
  return [Math.round(price / PER_CENT), size];
}

function inDollars({ price, size }: PredictionLevel): [string, number] {
  return [(price / DOLLAR).toFixed(DOLLAR_DIGITS), size];
}
