import type { FastifyInstance } from 'fastify';
import type { PredictionBook, PredictionLevel } from '../../market/prediction-market.ts';
import type { Listing } from '../../prediction/catalogue.ts';
import type { PredictionExchange } from '../../prediction/exchange.ts';
import type { ServiceContext } from '../context.ts';
import { createParameters } from '../http/parameters.ts';
import { badRequest } from '../http/request-error.ts';

const RESULTS = ['yes', 'no', 'cancelled'] as const;
const MOST_LEVELS = 200;
const LARGEST_SIZE = 1e9;
/** Prices are kept in hundredths of a cent. */
const PER_CENT = 100;

/** Serves `/sandbox/resolve` and `/sandbox/book`: the operator's controls of the prediction markets. */
export function registerPredictionControl(app: FastifyInstance, { prediction }: ServiceContext): void {
  app.post('/sandbox/resolve', (request, reply) => {
    const { market_id: marketId, result } = fieldsOf(request.body, ['market_id', 'result']);
    const listing = marketOf(prediction, marketId);
    const outcome = RESULTS.find((known) => known === result);
    if (outcome === undefined) throw badRequest(`result: expected one of ${RESULTS.join(', ')}`);
    if (!prediction.resolve(listing, outcome))
      throw badRequest(`market_id: expected a market that is not resolved yet, ${listing.marketId} is`);
    return reply.send(marketState(prediction, listing));
  });
  app.post('/sandbox/book', (request, reply) => {
    const { market_id: marketId, yes, no } = fieldsOf(request.body, ['market_id', 'yes', 'no']);
    const { marketId: known } = marketOf(prediction, marketId);
    prediction.setBook(known, parseBook(yes, no));
    return reply.send({ books: prediction.venue.bookedMarkets });
  });
  app.delete('/sandbox/book', (request, reply) => {
    const marketId = createParameters(request.query).optionalText('market_id');
    prediction.releaseBooks(marketId);
    return reply.send({ books: prediction.venue.bookedMarkets });
  });
}

/** Returns what `GET /sandbox/state` says of the prediction markets. */
export function predictionState(prediction: PredictionExchange): object {
  const events = prediction.events();
  return {
    prediction_events: events.map(({ plan, markets }) => ({
      event_id: plan.eventId, provider: plan.provider, category: plan.category, title: plan.title,
      markets: markets.map(({ marketId }) => marketId),
    })),
    prediction_markets: events.flatMap(({ markets }) => markets.map((listing) => marketState(prediction, listing))),
    prediction_owners: prediction.traders.map(({ name, address }) => ({ name, address })),
    prediction_books: prediction.venue.bookedMarkets,
  };
}

function marketState({ venue, timeline }: PredictionExchange, listing: Listing): object {
  const slot = timeline.now();
  const { status, result } = venue.state(listing, slot);
  return {
    market_id: listing.marketId, event_id: listing.event.plan.eventId, status, result,
    probability: venue.probability(listing, slot),
  };
}

function marketOf(prediction: PredictionExchange, marketId: unknown): Listing {
  const listing = typeof marketId === 'string' ? prediction.market(marketId) : undefined;
  if (listing === undefined)
    throw badRequest('market_id: expected a market of the sandbox, GET /sandbox/state lists them');
  return listing;
}

/** Both sides null mean that there is no book; an empty side is []. */
function parseBook(yes: unknown, no: unknown): PredictionBook | null {
  if (yes === null && no === null) return null;
  return { yes: parseSide('yes', yes), no: parseSide('no', no) };
}

function parseSide(name: string, value: unknown): PredictionLevel[] {
  if (!Array.isArray(value) || value.length > MOST_LEVELS) {
    throw badRequest(`${name}: expected a list of up to ${MOST_LEVELS} pairs [cents, size], or null for both sides`);
  }
  return value.map((level: unknown): PredictionLevel => {
    const [cents, size] = Array.isArray(level) && level.length === 2 ? level as [unknown, unknown] : [];
    if (typeof cents !== 'number' || !(cents >= 0 && cents <= 100) || typeof size !== 'number'
        || !(size >= 0 && size <= LARGEST_SIZE)) {
      throw badRequest(`${name}: expected pairs [cents, size] with 0 to 100 cents and a size of 0 to ${LARGEST_SIZE}`);
    }
    return { price: Math.round(cents * PER_CENT), size };
  }).sort((a, b) => b.price - a.price);
}

/**
 * Returns the members of a control request's body. Throws a RequestError (400) unless it is an object with these
 * members only.
 */
export function fieldsOf<Name extends string>(body: unknown, names: readonly Name[]): Partial<Record<Name, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest(`expected an object with ${names.join(', ')}`);
  const unknown = Object.keys(body).find((key) => !names.some((name) => name === key));
  if (unknown !== undefined) throw badRequest(`unknown key "${unknown.slice(0, 40)}", expected ${names.join(', ')}`);
  return body;
}
