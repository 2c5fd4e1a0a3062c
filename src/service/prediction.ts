import type { Gateway } from './gateway.ts';
import { badRequest } from './gateway.ts';
import type { CallOptions } from './priority.ts';
import type { BookLevels } from './wire/order-book.ts';
import { readOrderBook } from './wire/order-book.ts';

/** The prediction market API. */
export interface Prediction {
  /** Returns the bids of both sides; undefined where the service has no book for the market, which is not an empty one. */
  orderBook(marketId: string, call?: CallOptions): Promise<BookLevels | undefined>;
}

/** Returns the client of the prediction market API. */
export function createPrediction(gateway: Gateway): Prediction {
  return {
    async orderBook(marketId, call) {
      // The dots would climb out of the path.
      if (!/^[\u0021-\u007e]{1,200}$/.test(marketId) || /^\.+$/.test(marketId)) {
        throw badRequest('expected a marketId of 1 to 200 visible ASCII characters', marketId);
      }
      return readOrderBook(await gateway.get({ path: `/prediction/v1/orderbook/${encodeURIComponent(marketId)}`, shareable: true }, call));
    },
  };
}
