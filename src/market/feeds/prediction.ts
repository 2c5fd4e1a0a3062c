import { formatDecimal } from '../../core/amount.ts';
import type { OrderBook } from '../order-book.ts';
import { bookTop } from '../order-book.ts';
import type { FeedKind } from './feed-kind.ts';

/** The subjects of the feeds of prediction markets, by kind. */
export interface PredictionSubjects {
  readonly 'order-book': { readonly marketId: string };
}

/** The events of the same feeds. */
export interface PredictionEvents {
  readonly 'order-book': OrderBook;
}

/** The feeds of prediction markets. */
export const PREDICTION_FEEDS: {
  readonly [K in keyof PredictionSubjects]: FeedKind<PredictionSubjects[K], PredictionEvents[K]>
} = {
  'order-book': {
    input: 'orderBook',
    keyOf: ({ marketId }) => marketId,
    read: ({ marketId }, { shown }) => (isId(marketId) ? { marketId }
      : `watches the market ${shown(marketId)}: expected an id of 1 to 200 characters`),
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['order book', 'order books'],
    reading: (book) => {
      const { bestBid, bestAsk } = bookTop(book, 'yes');
      return `YES is bid at ${dollars(bestBid)}, asked at ${dollars(bestAsk)}`;
    },
  },
};

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{Cc}]{1,200}$/u.test(value);
}

function dollars(microUsd: number | undefined): string {
  return microUsd === undefined ? 'nothing' : `$${formatDecimal(BigInt(Math.round(microUsd)), 6)}`;
}
