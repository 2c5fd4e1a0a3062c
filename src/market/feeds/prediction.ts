import { formatDecimal } from '../../core/amount.ts';
import type { OrderBook } from '../order-book.ts';
import { bookTop } from '../order-book.ts';
import type {
  EventMarketsEvent, PredictionEventsEvent, PredictionHistoryEvent, PredictionMarketEvent, PredictionPositionsEvent,
} from '../prediction.ts';
import { PREDICTION_PAGE } from '../prediction.ts';
import type { Declared, FeedKind, Reading } from './feed-kind.ts';
import { isTerm, isWithin, readAddress } from './feed-kind.ts';

/** The subjects of the feeds of prediction markets, by kind. */
export interface PredictionSubjects {
  readonly 'order-book': { readonly marketId: string };
  /** The service lists the markets of an event in pages; `page` counts from 0. */
  readonly 'prediction-market': { readonly eventId: string; readonly marketId: string; readonly page: number };
  readonly 'event-markets': { readonly eventId: string; readonly page: number };
  readonly 'prediction-events':
    | { readonly query: string; readonly limit: number }
    /** The public key of an order, on whose basis the service suggests. */
    | { readonly suggestedFor: string };
  readonly 'prediction-positions': { readonly owner: string; readonly page: number };
  readonly 'prediction-history': { readonly owner: string };
}

/** The events of the same feeds. */
export interface PredictionEvents {
  readonly 'order-book': OrderBook;
  readonly 'prediction-market': PredictionMarketEvent;
  readonly 'event-markets': EventMarketsEvent;
  readonly 'prediction-events': PredictionEventsEvent;
  readonly 'prediction-positions': PredictionPositionsEvent;
  readonly 'prediction-history': PredictionHistoryEvent;
}

const PAGE_MAX = 500;

/** The feeds of prediction markets. */
export const PREDICTION_FEEDS: {
  readonly [K in keyof PredictionSubjects]: FeedKind<PredictionSubjects[K], PredictionEvents[K]>
} = {
  'order-book': {
    input: 'orderBook',
    keyOf: ({ marketId }) => marketId,
    read: ({ marketId }, { shown }) => (isTerm(marketId) ? { marketId }
      : `watches the market ${shown(marketId)}: expected an id of 1 to 200 characters`),
    feedsPerRequest: 1,
    mints: () => [],
    hasColumns: true,
    nouns: ['order book', 'order books'],
    reading: (book) => {
      const { bestBid, bestAsk } = bookTop(book, 'yes');
      return `YES is bid at ${dollars(bestBid)}, asked at ${dollars(bestAsk)}`;
    },
  },
  'prediction-market': {
    input: 'predictionMarket',
    keyOf: ({ eventId, marketId, page }) => keyOf(eventId, page, marketId),
    read: (declared, reading) => {
      const place = readEventPage(declared, reading);
      const { marketId } = declared;
      if (typeof place === 'string') return place;
      return isTerm(marketId) && marketId.isWellFormed() ? { ...place, marketId }
        : `watches the market ${reading.shown(marketId)}: expected an id of 1 to 200 characters`;
    },
    feedsPerRequest: PREDICTION_PAGE,
    requestOf: ({ eventId, page }) => keyOf(eventId, page),
    mints: () => [],
    nouns: ['prediction market', 'prediction markets'],
    reading: ({ market: { status, result, pricing } }) => (result !== undefined ? `resolved: ${result}`
      : `${status ?? 'unknown'}, YES costs ${dollars(pricing.buyYesPriceUsd)}`),
  },
  'event-markets': {
    input: 'predictionEvent',
    keyOf: ({ eventId, page }) => keyOf(eventId, page),
    read: readEventPage,
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['prediction event', 'prediction events'],
    reading: ({ markets, total }) => `${markets.length} of ${total} markets`,
  },
  'prediction-events': {
    input: 'predictionEvents',
    keyOf: (subject) => ('query' in subject ? keyOf('search', subject.query, subject.limit)
      : keyOf('suggested', subject.suggestedFor)),
    read: ({ query, limit, suggestedFor }, { isAddress, shown }) => {
      if (query === undefined) {
        return typeof suggestedFor === 'string' && isAddress(suggestedFor) ? { suggestedFor }
          : `names the order ${shown(suggestedFor)}: expected a base58 address of 32 bytes`;
      }
      if (!isTerm(query) || !query.isWellFormed())
        return `searches for ${shown(query)}: expected 1 to 200 characters`;
      return isWithin(limit, 1, PREDICTION_PAGE) ? { query, limit }
        : `asks for ${shown(limit)} events: expected a whole number of 1 to ${PREDICTION_PAGE}`;
    },
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['list of events', 'lists of events'],
    reading: ({ events }) => `${events.length} events`,
  },
  'prediction-positions': {
    input: 'predictionPositions',
    keyOf: ({ owner, page }) => keyOf(owner, page),
    read: (declared, reading) => {
      const account = readAddress('owner', declared['owner'], reading);
      const { page } = declared;
      if (typeof account === 'string') return account;
      return isWithin(page, 0, PAGE_MAX) ? { owner: account.address, page } : pageFault(page, reading);
    },
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['prediction positions', 'prediction positions'],
    reading: ({ positions, total }) => `${positions.length} of ${total} positions`,
  },
  'prediction-history': {
    input: 'predictionHistory',
    keyOf: ({ owner }) => owner,
    read: ({ owner }, reading) => {
      const account = readAddress('owner', owner, reading);
      return typeof account === 'string' ? account : { owner: account.address };
    },
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['prediction history', 'prediction histories'],
    reading: ({ entries: [newest], total }) => `${total} entries, the newest ${newest?.eventType ?? 'none'}`,
  },
};

/** Returns parts of a key in one text, which no two lists of parts share. */
function keyOf(...parts: readonly (string | number)[]): string {
  return parts.map(encodeURIComponent).join(':');
}

function readEventPage(
  { eventId, page }: Declared, reading: Reading,
): { readonly eventId: string; readonly page: number } | string {
  if (!isTerm(eventId) || !eventId.isWellFormed())
    return `watches the event ${reading.shown(eventId)}: expected an id of 1 to 200 characters`;
  return isWithin(page, 0, PAGE_MAX) ? { eventId, page } : pageFault(page, reading);
}

function pageFault(page: unknown, { shown }: Reading): string {
  return `asks for the page ${shown(page)}: expected a whole number of 0 to ${PAGE_MAX}`;
}

function dollars(microUsd: number | bigint | undefined): string {
  return microUsd === undefined ? 'nothing' : `$${formatDecimal(BigInt(Math.round(Number(microUsd))), 6)}`;
}
