import { GannetError } from '../../core/errors.ts';
import type { PredictionSubjects } from '../../market/feeds/prediction.ts';
import { PREDICTION_PAGE } from '../../market/prediction.ts';
import type { FeedRequests } from './feed-request.ts';
import { eachAlone } from './feed-request.ts';

/** The requests of the feeds of prediction markets. */
export const PREDICTION_REQUESTS: FeedRequests<keyof PredictionSubjects> = {
  'order-book': eachAlone(async ({ marketId }, { prediction }, call) => {
    const book = await prediction.orderBook(marketId, call);
    if (book === undefined)
      throw new GannetError('BOOK_MISSING', `no book: the service has none for the market ${marketId}`);
    return { marketId, ...book };
  }),
  'prediction-market': async (specs, { prediction }, call) => {
    const [{ eventId, page }] = specs as [typeof specs[number]];
    const { records } = await prediction.eventMarkets(eventId, rangeOf(page), call);
    return specs.map(({ marketId }) => {
      const market = records.find((each) => each.marketId === marketId);
      return market === undefined ? new GannetError('MARKET_MISSING', `expected the market ${marketId} on page ${page} `
        + `of the event ${eventId}, the service has none there; name its page`) : { eventId, market };
    });
  },
  'event-markets': eachAlone(async ({ eventId, page }, { prediction }, call) => {
    const { records, pagination } = await prediction.eventMarkets(eventId, rangeOf(page), call);
    return { eventId, markets: records, total: pagination.total };
  }),
  'prediction-events': eachAlone(async (spec, { prediction }, call) => {
    const { records } = 'query' in spec ? await prediction.searchEvents({ query: spec.query, limit: spec.limit }, call)
      : await prediction.suggestedEvents(spec.suggestedFor, {}, call);
    return { events: records.slice(0, PREDICTION_PAGE) };
  }),
  'prediction-positions': eachAlone(async ({ owner, page }, { prediction }, call) => {
    const { records, pagination } = await prediction.positions({ owner, ...rangeOf(page) }, call);
    return { owner, positions: records, total: pagination.total };
  }),
  'prediction-history': eachAlone(async ({ owner }, { prediction }, call) => {
    const { records, pagination } = await prediction.history({ owner, ...rangeOf(0) }, call);
    return { owner, entries: records, total: pagination.total };
  }),
};

function rangeOf(page: number): { readonly start: number; readonly end: number } {
  return { start: page * PREDICTION_PAGE, end: (page + 1) * PREDICTION_PAGE };
}
