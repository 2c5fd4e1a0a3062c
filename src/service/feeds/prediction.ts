import { GannetError } from '../../core/errors.ts';
import type { PredictionSubjects } from '../../market/feeds/prediction.ts';
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
};
