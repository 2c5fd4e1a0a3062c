import type { FastifyInstance } from 'fastify';
import { isAddress, addressBytes } from '../../chain/addresses.ts';
import type { ListedEvent } from '../../prediction/catalogue.ts';
import { PROVIDERS, type Category } from '../../prediction/event-plan.ts';
import type { ServiceContext } from '../context.ts';
import type { Parameters } from '../parameters.ts';
import { eventRecord, eventVolumeUsd, isActive } from './event-record.ts';
import { orderPurpose } from './history-record.ts';
import { marketRecord } from './market-record.ts';
import { MOST_ON_PAGE, page, pageRange } from './paging.ts';
import { predictionRoute, type PredictionRequest } from './prediction-route.ts';

const LONGEST_TERM = 200;
const USUAL_EVENTS = 10;
const MOST_EVENTS = 20;

/** Serves `GET /prediction/v1/events/suggested/{pubkey}`, `/events/search` and `/events/{eventId}/markets`. */
export function registerEvents(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/events/suggested/:pubkey', param: 'pubkey' }, (request) => {
    const { query, profile } = request;
    const events = eventsOf(request).filter((event) => isActive(event, request));
    const limit = profile === 'live' ? eventLimit(query) : undefined;
    return { data: suggested(events, request).slice(0, limit ?? USUAL_EVENTS)
      .map((event) => eventRecord(event, request)) };
  });

  predictionRoute(app, context, { path: '/events/search' }, (request) => {
    const { query, profile } = request;
    const term = query.text('query', { min: 1, max: LONGEST_TERM }).toLowerCase();
    const found = eventsOf(request)
      .filter(({ plan }) => plan.title.toLowerCase().includes(term))
      .sort((a, b) => Number(isActive(b, request)) - Number(isActive(a, request))
        || eventVolumeUsd(b, request) - eventVolumeUsd(a, request));
    // The live service dropped the limit for pages.
    if (profile !== 'live')
      return { data: found.slice(0, eventLimit(query) ?? USUAL_EVENTS).map((event) => eventRecord(event, request)) };
    const includeMarkets = query.optionalBoolean('includeMarkets') ?? true;
    return page(found, {
      range: pageRange(query), size: USUAL_EVENTS, record: (event) => eventRecord(event, request, { includeMarkets }),
    });
  });

  predictionRoute(app, context, { path: '/events/:eventId/markets', param: 'eventId' }, (request) => {
    const event = request.world.event(request.id);
    if (event === undefined) return request.missing('Event');
    return page(event.markets, {
      range: pageRange(request.query), size: MOST_ON_PAGE, record: (market) => marketRecord(market, request),
    });
  });
}

function eventLimit(query: Parameters): number | undefined {
  return query.optionalInteger('limit', { min: 1, max: MOST_EVENTS });
}

function eventsOf({ query, world }: PredictionRequest): ListedEvent[] {
  const provider = query.optionalChoice('provider', PROVIDERS) ?? 'provider_b';
  return world.events().filter(({ plan }) => plan.provider === provider);
}

/** Events of the order's own kind come first, the others in an order that the key alone decides. */
function suggested(events: readonly ListedEvent[], { id, world }: PredictionRequest): ListedEvent[] {
  const category = categoryOfOrder(id, world);
  const rank = new Map(events.map((event) => [event, world.identifiers.hex(`suggestion:${id}:${event.plan.eventId}`)]));
  return events.toSorted((a, b) =>
    Number(b.plan.category === category) - Number(a.plan.category === category)
      || (rank.get(a)! < rank.get(b)! ? -1 : 1));
}

/** Comparing bytes spares the base58 of every order there is. */
function categoryOfOrder(pubkey: string, world: PredictionRequest['world']): Category | undefined {
  if (!isAddress(pubkey)) return undefined;
  const wanted = Buffer.from(addressBytes(pubkey));
  const record = world.history({}).find(({ eventType, orderNumber }) =>
    eventType === 'order_created' && orderNumber !== undefined
      && world.identifiers.bytes(orderPurpose(orderNumber)).equals(wanted));
  return record === undefined ? undefined : world.market(record.marketId)?.event.plan.category;
}
