import { expect } from 'vitest';
import { bids, bookTop } from '../../src/market/order-book.ts';
import { document } from '../e2e/gannet.ts';
import type { Trap } from './trap.ts';

const MARKET = 'HERRINGRUN-27MAR01';
const YES: readonly (readonly [number, number])[] = [[28, 10], [30, 5], [30, 2.5], [12, 100], [29, 40]];
const NO: readonly (readonly [number, number])[] = [[60, 1], [69, 8], [65.5, 3], [2, 900]];

export const bookDirection: Trap = {
  number: 17,
  title: 'order books changed their direction: the best bid comes first in one form of the service, last in the other',
  plays: [
    {
      says: 'the same book reads the same in both forms: by price, never by place',
      profiles: ['reference', 'live'],
      async play(fixture) {
        await fixture.book(MARKET, YES, NO);
        const raw = await fixture.get(`/prediction/v1/orderbook/${MARKET}`);
        const cents = raw.body.yes.map(([price]: [number]) => price) as number[];
        expect(cents).toEqual([...cents].sort((a, b) => (fixture.profile === 'live' ? a - b : b - a)));
        expect(cents.at(fixture.profile === 'live' ? -1 : 0)).toBe(30);

        const book = (await fixture.service.prediction.orderBook(MARKET))!;
        // YES is bought from the bids for NO.
        expect(bookTop(book, 'yes'))
          .toMatchObject({ bestBid: 300_000, bestAsk: 310_000, mid: 305_000, spread: 10_000 });
        expect(bookTop(book, 'no')).toMatchObject({ bestBid: 690_000, bestAsk: 700_000 });
        expect(bids(book, 'yes')[0]).toEqual({ priceMicroUsd: 300_000, size: 7.5 });
        expect(bids(book, 'no').map(({ priceMicroUsd }) => priceMicroUsd)).toEqual([690_000, 655_000, 600_000, 20_000]);
      },
    },
    {
      says: 'in no order at all it still reads the same, and "gannet order-book" shows the best first',
      profiles: ['live'],
      async play(fixture) {
        const shuffled = {
          yes: [[12, 100], [30, 7.5], [28, 10]], yes_dollars: [['0.1200', 100], ['0.3000', 7.5], ['0.2800', 10]],
          no: [[60, 1], [69, 8], [2, 900]], no_dollars: [['0.0200', 900], ['0.6900', 8], ['0.6000', 1]],
        };
        await fixture.fault({
          path: `/prediction/v1/orderbook/${MARKET}`, fault: { kind: 'malformed', body: JSON.stringify(shuffled) },
        });
        expect(bookTop((await fixture.service.prediction.orderBook(MARKET))!, 'yes'))
          .toMatchObject({ bestBid: 300_000, bestAsk: 310_000 });
        const shown = await fixture.gannet(['order-book', MARKET, '--json']);
        expect(document(shown)).toMatchObject({
          yes: { best_bid: '0.3', best_ask: '0.31', bids: [['0.3', 7.5], ['0.28', 10], ['0.12', 100]] },
          no: { best_bid: '0.69' },
        });
      },
    },
  ],
};
