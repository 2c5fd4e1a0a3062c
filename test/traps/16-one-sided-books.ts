import { expect } from 'vitest';
import bookWatch from '../../strategies/book-watch.ts';
import type { OrderBook } from '../../src/market/order-book.ts';
import { asks, bookTop, impliedProbability } from '../../src/market/order-book.ts';
import { collect } from '../../src/service/endpoints/paged-list.ts';
import { start } from '../engine/runs.ts';
import { configured } from '../strategies/instances.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';

const MARKET = 'SPRINGTIDE-26DEC31';
const ONE_SIDED = 'LIGHTHOUSE-27JAN15';
const PATH = '/prediction/v1';

export const oneSidedBooks: Trap = {
  number: 16,
  title:
    'prediction markets without a buyer or a seller: prices of 0, live events with empty books, marks that are bids',
  plays: [
    {
      says: 'a price of 0 is no price: rounded levels are left out, and a missing side gives no probability',
      profiles: ['reference', 'live'],
      async play(fixture) {
        await fixture.book(MARKET, [[42, 100], [0, 7], [0.3, 50]], []);
        const raw = await fixture.get(`${PATH}/orderbook/${MARKET}`);
        expect(raw.body.yes.map(([cents]: [number]) => cents)).toContain(0);
        const book = (await fixture.service.prediction.orderBook(MARKET))!;
        expect(book.yes.map(({ priceMicroUsd }) => priceMicroUsd).sort((a, b) => a - b)).toEqual([3_000, 420_000]);
        expect(bookTop(book, 'yes'))
          .toMatchObject({ bestBid: 420_000, bestAsk: undefined, mid: undefined, spread: undefined });
        expect(bookTop(book, 'no')).toMatchObject({ bestBid: undefined, bestAsk: 580_000 });
        expect([impliedProbability(book, 1), asks(book, 'yes')]).toEqual([undefined, []]);
      },
    },
    {
      says: 'a strategy that watches the odds says nothing on a one-sided, an empty or a crossed book',
      async play(fixture) {
        const run =
          start([configured(bookWatch, { market: MARKET, level: 0.6, rearm: 0.55, confirm: 1, every: '1s' })]);
        const show = async (yes: [number, number][], no: [number, number][]): Promise<void> => {
          await fixture.book(MARKET, yes, no);
          const at = (run.inputs.length + 1) * 1_000;
          const event: OrderBook = {
            kind: 'order-book', feed: `order-book:${MARKET}`, receivedAt: at, marketId: MARKET,
            ...(await fixture.service.prediction.orderBook(MARKET))!,
          };
          run.engine.accept(event, at);
        };
        await show([[49, 100]], [[49, 100]]);
        for (const [yes, no] of [
          [[[70, 100]], []], [[], [[30, 100]]], [[], []], [[[70, 1]], [[40, 1]]], [[[70, 5]], [[0, 9]]],
        ] as [number, number][][][]) await show(yes!, no!);
        expect(run.logged).toEqual([]);
        await show([[62, 100]], [[36, 100]]);
        expect(run.logged).toHaveLength(1);
      },
    },
    {
      says:
        'a live event may have no book at all, and a venue may be away: the feed says which, and the next poll goes on',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const { records: [event] } =
          await fixture.service.prediction.searchEvents({ query: 'doldrums', provider: 'provider_a' });
        expect(event).toMatchObject({ isLive: true, markets: [
          { marketId: 'DOLDRUMS-26NOV30', pricing: { buyYesPriceUsd: undefined, sellNoPriceUsd: undefined } },
        ] });
        expect(await fixture.service.prediction.orderBook('DOLDRUMS-26NOV30')).toBeUndefined();
        const watched = watch(fixture, fixture.connect(), [
          { kind: 'order-book', marketId: 'DOLDRUMS-26NOV30', everyMs: 1_000 },
          { kind: 'order-book', marketId: MARKET, everyMs: 1_000 },
        ]);
        await watched.until((one) => isHealth(one, 'degraded', 'BOOK_MISSING'));
        await watched.until((one) => one.kind === 'order-book' && one.marketId === MARKET);
        await fixture.fault({ path: `${PATH}/orderbook/${MARKET}`, fault: {
          kind: 'status', status: 502,
          body: { type: 'api_error', message: 'Orderbook is not reachable', code: 'upstream', request_id: 'r' },
        }, times: 1 });
        await watched.until((one) => isHealth(one, 'degraded', 'SERVICE_STATUS'));
        await watched.until((one) => isHealth(one, 'healthy'));
      },
    },
    {
      says: 'a side without offers costs 0 on the wire and is absent in the records',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const raw = await fixture.get(`${PATH}/events/LIGHTHOUSE/markets`);
        const pricing = raw.body.data[0].pricing as Record<string, number>;
        expect([pricing['buyYesPriceUsd'], pricing['sellNoPriceUsd']]).toEqual([0, 0]);
        const { records } = await fixture.service.prediction.eventMarkets('LIGHTHOUSE');
        expect(records[0]).toMatchObject({ marketId: ONE_SIDED, pricing: {
          buyYesPriceUsd: undefined, sellNoPriceUsd: undefined, sellYesPriceUsd: BigInt(pricing['sellYesPriceUsd']!),
        } });
        const ended = (await fixture.service.prediction.eventMarkets('FOGHORN'))
          .records.find(({ marketId }) => marketId === 'FOGHORN-KEEP')!;
        expect(ended).toMatchObject({
          status: 'closed', result: 'yes',
          pricing: { buyYesPriceUsd: undefined, buyNoPriceUsd: undefined, sellYesPriceUsd: undefined },
        });
      },
    },
    {
      says: 'a position is marked at the best bid: a new one shows the spread as a loss, and 0 without bids',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const owner = fixture.sandbox.addresses.wallet.address;
        const { records } = await collect(fixture.service.prediction.allPositions({ owner, marketId: MARKET }));
        const position = records.find(({ isYes, claimed }) => isYes && claimed !== true)!;
        const book = (await fixture.service.prediction.orderBook(MARKET))!;
        expect(Number(position.markPriceUsd)).toBe(bookTop(book, 'yes').bestBid);
        expect(position.sellPriceUsd).toBe(position.markPriceUsd);
        expect(position.valueUsd).toBe((position.contractsMicro * position.markPriceUsd!) / 1_000_000n);
        expect(position.pnlUsd).toBe(position.valueUsd! - position.totalCostUsd!);
        // What it would cost to buy now is above what it counts for.
        expect(bookTop(book, 'yes').bestAsk).toBeGreaterThan(Number(position.markPriceUsd));
        await fixture.book(MARKET, [], [[40, 100]]);
        expect((await fixture.service.prediction.position(position.pubkey)).sellPriceUsd).toBeUndefined();
      },
    },
    {
      says: 'a position has the key pubkey in lists and positionPubkey in the ledger; no order is below five dollars',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const owner = fixture.sandbox.addresses.wallet.address;
        const { records: ledger } = await collect(fixture.service.prediction.allHistory({ owner }));
        const { records: positions } = await collect(fixture.service.prediction.allPositions({ owner }));
        const bought = ledger.filter(({ eventType, isBuy }) => eventType === 'order_created' && isBuy === true);
        expect(bought.length).toBeGreaterThan(3);
        for (const { depositAmountUsd } of bought) expect(depositAmountUsd).toBeGreaterThanOrEqual(5_000_000n);
        const named = positions.find(({ pubkey }) => ledger.some(({ positionPubkey }) => positionPubkey === pubkey))!;
        expect((await fixture.service.prediction.position(named.pubkey)).marketId).toBe(named.marketId);
        const { records } = await fixture.service.prediction.history({ owner, positionPubkey: named.pubkey });
        expect(records.length).toBeGreaterThan(0);
        expect(new Set(records.map(({ positionPubkey }) => positionPubkey))).toEqual(new Set([named.pubkey]));
      },
    },
  ],
};
