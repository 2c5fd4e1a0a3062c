import type { FastifyInstance } from 'fastify';
import { addressBytes, isAddress } from '../../chain/addresses.ts';
import type { PredictionLevel } from '../../market/prediction-market.ts';
import { DOLLAR } from '../../market/prediction-market.ts';
import type { ListedEvent } from '../../prediction/catalogue.ts';
import type { Category } from '../../prediction/event-plans.ts';
import { PROVIDERS } from '../../prediction/event-plans.ts';
import type { Position } from '../../prediction/positions.ts';
import type { ServiceContext } from '../context.ts';
import type { Parameters } from '../http/parameters.ts';
import { badRequest } from '../http/request-error.ts';
import type { PredictionRequest } from './prediction-route.ts';
import { predictionRoute } from './prediction-route.ts';
import {
  eventRecord, eventVolumeUsd, historyRecord, isActive, marketRecord, orderPurpose, positionRecord,
} from './records.ts';

/** The requested part of a list, `end` exclusive. */
interface PageRange {
  readonly start: number;
  readonly end: number | undefined;
}

/** The most elements of a page; a longer one is cut silently. */
const MOST_ON_PAGE = 20;
const LARGEST_PLACE = Number.MAX_SAFE_INTEGER - MOST_ON_PAGE;

/** Returns the `start` and `end` of a query. Throws a RequestError (400) that names them. */
function pageRange(query: Parameters): PageRange {
  const start = place(query, 'start') ?? 0;
  const end = place(query, 'end');
  if (end !== undefined && end < start) throw badRequest(`end: expected at least start, ${start}, got ${end}`);
  return { start, end };
}

/** The description allows null as a position, which in a query is the word `null`. */
function place(query: Parameters, name: 'start' | 'end'): number | undefined {
  return query.optionalText(name) === 'null' ? undefined : query.optionalInteger(name, { min: 0, max: LARGEST_PLACE });
}

/** Returns one page of a list with its `pagination`; without an `end` it has `size` elements. */
function page<Item>(
  items: readonly Item[], options: { range: PageRange; size: number; record: (item: Item) => object },
): object {
  const { start } = options.range;
  const wanted = (options.range.end ?? start + options.size) - start;
  const shown = items.slice(start, start + Math.min(wanted, MOST_ON_PAGE));
  const end = start + shown.length;
  return {
    data: shown.map(options.record), pagination: { start, end, total: items.length, hasNext: end < items.length },
  };
}

/** Pages of 8 and 9 records were seen where the request named no size. */
const HISTORY_PAGE_SIZE = 8;

/** Serves `GET /prediction/v1/history`: the ledger, newest first. The live service requires an owner. */
export function registerHistory(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/history' }, (request) => {
    const { query, exchange, profile } = request;
    const isLive = profile === 'live';
    const ownerPubkey = query.optionalAddress('ownerPubkey')
      ?? (isLive ? query.optionalAddress('userPubkey') : undefined);
    if (isLive && ownerPubkey === undefined)
      return request.refuse({ message: 'ownerPubkey or userPubkey is required', param: 'ownerPubkey' });
    const found = exchange.history({
      ownerPubkey,
      id: query.optionalInteger('id', { min: 1, max: Number.MAX_SAFE_INTEGER }),
      positionPubkey: query.optionalAddress('positionPubkey'),
      ...(isLive ? { marketId: query.optionalText('marketId'), isYes: query.optionalBoolean('isYes') } : {}),
    });
    return page(found, { range: pageRange(query), size: HISTORY_PAGE_SIZE + (found.length % 2), record: (record) =>
      historyRecord(record, request) });
  });
}

const POSITIONS_PAGE_SIZE = 10;
const MOST_OWNERS = 50;

/** Serves `GET /prediction/v1/positions` and `/positions/{positionPubkey}`. */
export function registerPositions(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/positions' }, (request) => {
    const isWanted = filterOf(request);
    return page(request.exchange.positions().filter(isWanted), {
      range: pageRange(request.query), size: POSITIONS_PAGE_SIZE,
      record: (position) => positionRecord(position, request),
    });
  });
  predictionRoute(app, context, { path: '/positions/:positionPubkey', param: 'positionPubkey' }, (request) => {
    const position = request.exchange.position(request.id);
    return position === undefined ? request.missing('Position') : positionRecord(position, request);
  });
}

function filterOf({ query, profile, exchange: { identifiers } }: PredictionRequest): (position: Position) => boolean {
  // The live service accepts several owners.
  const owners = query.has('ownerPubkey')
    ? query.addresses('ownerPubkey', profile === 'live' ? MOST_OWNERS : 1) : undefined;
  const isYes = query.optionalBoolean('isYes');
  const marketId = query.optionalText('marketId');
  const marketPubkey = query.optionalAddress('marketPubkey');
  return (position) => (owners === undefined || owners.includes(position.owner))
    && (isYes === undefined || position.isYes === isYes)
    && (marketId === undefined || position.marketId === marketId)
    && (marketPubkey === undefined || identifiers.address(`market:${position.marketId}`) === marketPubkey);
}

const PER_CENT = 100;
const DOLLAR_DIGITS = 4;

/**
 * Serves `GET /prediction/v1/orderbook/{marketId}`: the bids of both sides, or null where there is no book. The highest
 * price comes first by the description, last in the live service.
 */
export function registerOrderbook(app: FastifyInstance, context: ServiceContext): void {
  predictionRoute(app, context, { path: '/orderbook/:marketId', param: 'marketId' }, (request) => {
    const { exchange, profile, slot, id } = request;
    const market = exchange.market(id);
    if (market === undefined) return request.missing('Market');
    const book = exchange.venue.book(market, slot);
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
    // The live service replaced the limit by pages.
    if (profile !== 'live')
      return { data: found.slice(0, eventLimit(query) ?? USUAL_EVENTS).map((event) => eventRecord(event, request)) };
    const includeMarkets = query.optionalBoolean('includeMarkets') ?? true;
    return page(found, {
      range: pageRange(query), size: USUAL_EVENTS, record: (event) => eventRecord(event, request, { includeMarkets }),
    });
  });

  predictionRoute(app, context, { path: '/events/:eventId/markets', param: 'eventId' }, (request) => {
    const event = request.exchange.event(request.id);
    if (event === undefined) return request.missing('Event');
    return page(event.markets, {
      range: pageRange(request.query), size: MOST_ON_PAGE, record: (market) => marketRecord(market, request),
    });
  });
}

function eventLimit(query: Parameters): number | undefined {
  return query.optionalInteger('limit', { min: 1, max: MOST_EVENTS });
}

function eventsOf({ query, exchange }: PredictionRequest): ListedEvent[] {
  const provider = query.optionalChoice('provider', PROVIDERS) ?? 'provider_b';
  return exchange.events().filter(({ plan }) => plan.provider === provider);
}

/** Events of the order's category come first, the others in an order derived from the key. */
function suggested(events: readonly ListedEvent[], { id, exchange }: PredictionRequest): ListedEvent[] {
  const category = categoryOfOrder(id, exchange);
  const rank = new Map(events.map((event) =>
    [event, exchange.identifiers.hex(`suggestion:${id}:${event.plan.eventId}`)]));
  return events.toSorted((a, b) =>
    Number(b.plan.category === category) - Number(a.plan.category === category)
      || (rank.get(a)! < rank.get(b)! ? -1 : 1));
}

/** Comparing bytes avoids the base58 of every order. */
function categoryOfOrder(pubkey: string, exchange: PredictionRequest['exchange']): Category | undefined {
  if (!isAddress(pubkey)) return undefined;
  const wanted = Buffer.from(addressBytes(pubkey));
  const record = exchange.history({}).find(({ eventType, orderNumber }) =>
    eventType === 'order_created' && orderNumber !== undefined
      && exchange.identifiers.bytes(orderPurpose(orderNumber)).equals(wanted));
  return record === undefined ? undefined : exchange.market(record.marketId)?.event.plan.category;
}
