import type { Json } from '../../core/json.ts';
import type { Gateway, Query } from '../gateway.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { BookLevels } from '../wire/order-book-answer.ts';
import { readOrderBook } from '../wire/order-book-answer.ts';
import { MARKETS, readEvents } from '../wire/prediction-events.ts';
import { HISTORY } from '../wire/prediction-history.ts';
import { POSITIONS, readPosition } from '../wire/prediction-position.ts';
import type { Records, ReportUnread } from '../wire/read.ts';
import type { Batch, Page, PagingOptions } from './paged-list.ts';
import { filtered, readList, readPage } from './paged-list.ts';
import type { JointRule, RequestRules, Rule } from './request-rules.ts';
import { aFlag, anInteger, checkRequest, oneOf, optionalRule, required } from './request-rules.ts';
import type { HistoryRecord, PredictionEvent, PredictionMarket, PredictionPosition } from '../../market/prediction.ts';

/**
 * The prediction market API. Each method refuses what breaks a stated rule with SERVICE_BAD_REQUEST, before anything
 * leaves. A page is one request and at most 20 elements; the methods that begin with `all` read a whole list, with what
 * `readList` guarantees.
 */
export interface Prediction {
  /** The neutral names of all providers that the host knows. */
  readonly providers: readonly string[];
  /** Returns one page of an account's ledger, the newest entry first. */
  history(request: HistoryFilter & PageRange, call?: CallOptions): Promise<Page<HistoryRecord>>;
  /** Reads the whole ledger. */
  allHistory(filter: HistoryFilter, paging?: PagingOptions): AsyncIterable<Batch<HistoryRecord>>;
  /** Returns one page of positions. */
  positions(request: PositionsFilter & PageRange, call?: CallOptions): Promise<Page<PredictionPosition>>;
  /** Reads all positions. */
  allPositions(filter: PositionsFilter, paging?: PagingOptions): AsyncIterable<Batch<PredictionPosition>>;
  /** Returns one position. One that the service does not know is SERVICE_STATUS. */
  position(positionPubkey: string, call?: CallOptions): Promise<PredictionPosition>;
  /** Returns events that the service suggests on the basis of an order. */
  suggestedEvents(
    pubkey: string, options?: { readonly provider?: string | undefined }, call?: CallOptions,
  ): Promise<Records<PredictionEvent>>;
  /** Returns the events whose title matches, at most as many as `limit` says. */
  searchEvents(request: EventSearch, call?: CallOptions): Promise<Records<PredictionEvent>>;
  /** Returns one page of an event's markets. */
  eventMarkets(eventId: string, range?: PageRange, call?: CallOptions): Promise<Page<PredictionMarket>>;
  /** Reads all markets of an event. */
  allEventMarkets(eventId: string, paging?: PagingOptions): AsyncIterable<Batch<PredictionMarket>>;
  /**
   * Returns the bids of both sides; undefined where the service has no book for the market, which is not an empty one.
   */
  orderBook(marketId: string, call?: CallOptions): Promise<BookLevels | undefined>;
}

/** A part of a list; the newest element has place 0. The service gives at most 20 elements of it. */
export interface PageRange {
  /** 0 unless told otherwise. */
  readonly start?: number | undefined;
  /** Exclusive. */
  readonly end?: number | undefined;
}

/** A filter of the ledger. The service mostly requires an owner. */
export interface HistoryFilter {
  readonly owner?: string | undefined;
  /** The number of one entry of the ledger, at least 1; this is not a prediction event. */
  readonly eventId?: number | undefined;
  readonly positionPubkey?: string | undefined;
}

/** A filter of positions. */
export interface PositionsFilter {
  readonly owner?: string | undefined;
  /** True for those on YES alone, false for those on NO. */
  readonly isYes?: boolean | undefined;
  readonly marketId?: string | undefined;
  readonly marketPubkey?: string | undefined;
}

/** A search among events. */
export interface EventSearch {
  /** 1 to 200 characters; titles that contain them match. */
  readonly query: string;
  /** In neutral words; left out, the service chooses one. */
  readonly provider?: string | undefined;
  /** 1 to 20. */
  readonly limit?: number | undefined;
}

/** One request within the prediction API. */
interface Asked<T> {
  /** Segments under the group's own path. */
  readonly path: readonly string[];
  readonly query?: Query | undefined;
  /** False for the pages of a whole list: a page that an earlier call asked for is of an older list. */
  readonly shareable?: boolean | undefined;
  readonly read: (answer: Json, unread: ReportUnread) => T;
}

type Get = <T>(asked: Asked<T>, call: CallOptions | undefined) => Promise<T>;
type PageReader<Request, T> =
  (request: Request & PageRange, call?: CallOptions, shareable?: boolean) => Promise<Page<T>>;

/** Returns the client of the prediction market API. */
export function createPrediction(gateway: Gateway, dialect: Dialect): Prediction {
  const SUGGESTED_RULES = suggestedRules(dialect.providers);
  const SEARCH_RULES = eventSearchRules(dialect.providers);
  const get: Get = ({ path, query, shareable = true, read }, call) => gateway.get({
    path: `/prediction/v1/${path.map(encodeURIComponent).join('/')}`, query, shareable,
    read: (answer, { unread }) => read(answer, unread),
  }, call);
  const history = historyReader(get);
  const positions = positionsReader(get);
  const eventMarkets = eventMarketsReader(get);

  return {
    providers: dialect.providers,
    history: (request, call) => history(request, call),
    allHistory: (filter, paging) =>
      readList({
        what: 'history', idOf: ({ id }) => String(id),
        read: (range, call) => history({ ...filter, ...range }, call, false),
      }, paging),
    positions: (request, call) => positions(request, call),
    allPositions: (filter, paging) =>
      readList({
        what: 'positions', idOf: ({ pubkey }) => pubkey,
        read: (range, call) => positions({ ...filter, ...range }, call, false),
      }, paging),
    async position(positionPubkey, call) {
      checkRequest(POSITION_RULES, { positionPubkey });
      return get({
        path: ['positions', positionPubkey], read: (answer, unread) => readPosition(answer, positionPubkey, unread),
      }, call);
    },
    async suggestedEvents(pubkey, { provider } = {}, call) {
      checkRequest(SUGGESTED_RULES, { pubkey, provider });
      return get({ path: ['events', 'suggested', pubkey], query: { provider }, read: readEvents }, call);
    },
    async searchEvents(request, call) {
      checkRequest(SEARCH_RULES, request);
      const { query, provider, limit } = request;
      const { records, rejected } =
        await get({ path: ['events', 'search'], query: { query, provider, limit }, read: readEvents }, call);
      // Hosts that page this list know no limit.
      return { records: records.slice(0, limit), rejected };
    },
    eventMarkets: (eventId, { start, end } = {}, call) => eventMarkets({ eventId, start, end }, call),
    allEventMarkets: (eventId, paging) =>
      readList({
        what: 'markets', idOf: ({ marketId }) => marketId,
        read: (range, call) => eventMarkets({ eventId, ...range }, call, false),
      }, paging),
    async orderBook(marketId, call) {
      checkRequest(ORDER_BOOK_RULES, { marketId });
      return get({ path: ['orderbook', marketId], read: readOrderBook }, call);
    },
  };
}

function historyReader(get: Get): PageReader<HistoryFilter, HistoryRecord> {
  return async (request, call, shareable) => {
    checkRequest(HISTORY_RULES, request);
    const { owner, eventId, positionPubkey, start, end } = request;
    const query = { start, end, ownerPubkey: owner, id: eventId, positionPubkey };
    const kind = filtered(HISTORY, { ownerPubkey: owner, positionPubkey });
    return get({
      path: ['history'], query, shareable, read: (answer, unread) => readPage(kind, answer, unread),
    }, call);
  };
}

function positionsReader(get: Get): PageReader<PositionsFilter, PredictionPosition> {
  return async (request, call, shareable) => {
    checkRequest(POSITIONS_RULES, request);
    const { owner, isYes, marketId, marketPubkey, start, end } = request;
    const query = { start, end, ownerPubkey: owner, marketPubkey, marketId, isYes };
    const kind = filtered(POSITIONS, { ownerPubkey: owner, marketId, isYes });
    return get({
      path: ['positions'], query, shareable, read: (answer, unread) => readPage(kind, answer, unread),
    }, call);
  };
}

function eventMarketsReader(get: Get): PageReader<{ readonly eventId: string }, PredictionMarket> {
  return async ({ eventId, start, end }, call, shareable) => {
    checkRequest(EVENT_MARKETS_RULES, { eventId, start, end });
    return get({
      path: ['events', eventId, 'markets'], query: { start, end }, shareable,
      read: (answer, unread) => readPage(MARKETS, answer, unread),
    }, call);
  };
}

const anIndex: Rule = optionalRule('an integer of at least 0', (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0);

const aRecordNumber: Rule = optionalRule('an integer of at least 1', (value) =>
  Number.isSafeInteger(value) && (value as number) >= 1);

const aKey: Rule = optionalRule('at least 1 and at most 200 visible ASCII characters', (value) =>
  typeof value === 'string' && /^[\u0021-\u007e]{1,200}$/.test(value));

/** Dots would climb out of the path. */
const inPath: Rule = required({ ...aKey, holds: (value) => aKey.holds(value) && !/^\.+$/.test(value as string) });

const range = { start: anIndex, end: anIndex };

const inOrder: JointRule<PageRange> = {
  parameter: 'end',
  words: 'expected end, which is exclusive, not to lie before start',
  holds: ({ start = 0, end }) => end === undefined || end >= start,
};

/** What the reference states of `GET /prediction/v1/history`. */
const HISTORY_RULES: RequestRules<HistoryFilter & PageRange> = {
  endpoint: 'GET /prediction/v1/history',
  parameters: { owner: aKey, eventId: aRecordNumber, positionPubkey: aKey, ...range },
  joint: [inOrder],
};

/** What the reference states of `GET /prediction/v1/positions`. */
const POSITIONS_RULES: RequestRules<PositionsFilter & PageRange> = {
  endpoint: 'GET /prediction/v1/positions',
  parameters: { owner: aKey, isYes: aFlag, marketId: aKey, marketPubkey: aKey, ...range },
  joint: [inOrder],
};

/** What the reference states of `GET /prediction/v1/positions/{positionPubkey}`. */
const POSITION_RULES: RequestRules<{ readonly positionPubkey: string }> = {
  endpoint: 'GET /prediction/v1/positions/{positionPubkey}', parameters: { positionPubkey: inPath }, joint: [],
};

/** What the reference states of `GET /prediction/v1/events/{eventId}/markets`. */
const EVENT_MARKETS_RULES: RequestRules<{ readonly eventId: string } & PageRange> = {
  endpoint: 'GET /prediction/v1/events/{eventId}/markets', parameters: { eventId: inPath, ...range }, joint: [inOrder],
};

/** What the reference states of `GET /prediction/v1/orderbook/{marketId}`. */
const ORDER_BOOK_RULES: RequestRules<{ readonly marketId: string }> = {
  endpoint: 'GET /prediction/v1/orderbook/{marketId}', parameters: { marketId: inPath }, joint: [],
};

/** Returns what the reference states of `GET /prediction/v1/events/suggested/{pubkey}`. */
function suggestedRules(
  providers: readonly string[],
): RequestRules<{ readonly pubkey: string; readonly provider?: string | undefined }> {
  return {
    endpoint: 'GET /prediction/v1/events/suggested/{pubkey}',
    parameters: { pubkey: inPath, provider: oneOf(providers) }, joint: [],
  };
}

/** Returns what the reference states of `GET /prediction/v1/events/search`. */
function eventSearchRules(providers: readonly string[]): RequestRules<EventSearch> {
  return {
    endpoint: 'GET /prediction/v1/events/search',
    parameters: {
      query: required(optionalRule('1 to 200 characters', (value) =>
        typeof value === 'string' && value.length >= 1 && value.length <= 200)),
      provider: oneOf(providers),
      limit: anInteger({ min: 1, max: 20 }),
    },
    joint: [],
  };
}
