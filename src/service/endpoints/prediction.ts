import type { Json } from '../../core/json.ts';
import type { Gateway, Query } from '../gateway.ts';
import type { Batch, PagingOptions } from './paged-list.ts';
import { readList } from './paged-list.ts';
import type { EventSearch, HistoryFilter, PageRange, PositionsFilter } from './prediction-request.ts';
import {
  EVENT_MARKETS_RULES, eventSearchRules, HISTORY_RULES, ORDER_BOOK_RULES, POSITION_RULES, POSITIONS_RULES,
  suggestedRules,
} from './prediction-rules.ts';
import type { CallOptions } from '../rate/priority.ts';
import { checkRequest } from './request-rules.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { BookLevels } from '../wire/order-book-answer.ts';
import { readOrderBook } from '../wire/order-book-answer.ts';
import type { PredictionEvent } from '../wire/prediction-event.ts';
import { readEvents } from '../wire/prediction-event.ts';
import type { HistoryRecord } from '../wire/prediction-history.ts';
import { HISTORY } from '../wire/prediction-history.ts';
import type { PredictionMarket } from '../wire/prediction-events.ts';
import { MARKETS } from '../wire/prediction-events.ts';
import type { Page } from '../wire/prediction-page.ts';
import { filtered, readPage } from '../wire/prediction-page.ts';
import type { PredictionPosition } from '../wire/prediction-position.ts';
import { POSITIONS, readPosition } from '../wire/prediction-position.ts';
import type { Records } from '../wire/records.ts';

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

/** One request within the prediction API. */
interface Asked {
  /** Segments under the group's own path. */
  readonly path: readonly string[];
  readonly query?: Query | undefined;
  /** False for the pages of a whole list: a page asked for earlier by someone else is of an older list. */
  readonly shareable?: boolean | undefined;
}

/** Returns the client of the prediction market API. */
export function createPrediction(gateway: Gateway, dialect: Dialect): Prediction {
  const SUGGESTED_RULES = suggestedRules(dialect.providers);
  const SEARCH_RULES = eventSearchRules(dialect.providers);

  const get = ({ path, query, shareable = true }: Asked, call: CallOptions | undefined): Promise<Json> =>
    gateway.get({ path: `/prediction/v1/${path.map(encodeURIComponent).join('/')}`, query, shareable }, call);

  async function history(
    request: HistoryFilter & PageRange, call?: CallOptions, shareable?: boolean,
  ): Promise<Page<HistoryRecord>> {
    checkRequest(HISTORY_RULES, request);
    const { owner, eventId, positionPubkey, start, end } = request;
    const answer = await get(
      { path: ['history'], query: { start, end, ownerPubkey: owner, id: eventId, positionPubkey }, shareable }, call,
    );
    return readPage(filtered(HISTORY, { ownerPubkey: owner, positionPubkey }), answer);
  }

  async function positions(
    request: PositionsFilter & PageRange, call?: CallOptions, shareable?: boolean,
  ): Promise<Page<PredictionPosition>> {
    checkRequest(POSITIONS_RULES, request);
    const { owner, isYes, marketId, marketPubkey, start, end } = request;
    const query = { start, end, ownerPubkey: owner, marketPubkey, marketId, isYes };
    return readPage(filtered(POSITIONS, { ownerPubkey: owner, marketId, isYes }), await get(
      { path: ['positions'], query, shareable }, call,
    ));
  }

  async function eventMarkets(
    eventId: string, { start, end }: PageRange = {}, call?: CallOptions, shareable?: boolean,
  ): Promise<Page<PredictionMarket>> {
    checkRequest(EVENT_MARKETS_RULES, { eventId, start, end });
    return readPage(
      MARKETS, await get({ path: ['events', eventId, 'markets'], query: { start, end }, shareable }, call),
    );
  }

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
      return readPosition(await get({ path: ['positions', positionPubkey] }, call), positionPubkey);
    },
    async suggestedEvents(pubkey, { provider } = {}, call) {
      checkRequest(SUGGESTED_RULES, { pubkey, provider });
      return readEvents(await get({ path: ['events', 'suggested', pubkey], query: { provider } }, call));
    },
    async searchEvents(request, call) {
      checkRequest(SEARCH_RULES, request);
      const { query, provider, limit } = request;
      const { records, rejected } =
        readEvents(await get({ path: ['events', 'search'], query: { query, provider, limit } }, call));
      // Hosts that page this list know no limit.
      return { records: records.slice(0, limit), rejected };
    },
    eventMarkets: (eventId, range, call) => eventMarkets(eventId, range, call),
    allEventMarkets: (eventId, paging) =>
      readList({
        what: 'markets', idOf: ({ marketId }) => marketId,
        read: (range, call) => eventMarkets(eventId, range, call, false),
      }, paging),
    async orderBook(marketId, call) {
      checkRequest(ORDER_BOOK_RULES, { marketId });
      return readOrderBook(await get({ path: ['orderbook', marketId] }, call));
    },
  };
}
