import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { bookTop } from '../../../src/market/order-book.ts';
import { readOrderBook } from '../../../src/service/wire/order-book-answer.ts';
import { clientOf, json, listen } from '../loopback.ts';

const MALFORMED = expect.objectContaining({ code: 'SERVICE_MALFORMED' }) as Error;
const EMPTY = { yes: [], no: [], yes_dollars: [], no_dollars: [] };

describe('an order book', () => {
  test('is asked for by its market, encoded', async () => {
    const server = await listen(json(EMPTY));
    await clientOf(server).prediction.orderBook('RAIN/24-%?x=1');
    expect(server.received[0]!.path).toBe('/prediction/v1/orderbook/RAIN%2F24-%25%3Fx%3D1');
  });

  test.each(['', '..', 'a\nb', 'x'.repeat(201)])('of the market %j is never asked for', async (marketId) => {
    const server = await listen(json(EMPTY));
    await expect(clientOf(server).prediction.orderBook(marketId))
      .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(server.received).toHaveLength(0);
  });

  test('takes exact prices from the dollars, whatever the order', () => {
    const book = readOrderBook({
      yes: [[30, 10.5], [0, 3], [29, 1]], no: [[68, 2], [69, 4]],
      yes_dollars: [['0.2950', 1], ['0.3040', 10.5], ['0.0040', '3']], no_dollars: [['0.6800', 2], ['0.690001', 4]],
    });
    expect(book).toEqual({
      yes: [
        { priceMicroUsd: 295_000, size: 1 }, { priceMicroUsd: 304_000, size: 10.5 }, { priceMicroUsd: 4_000, size: 3 },
      ],
      no: [{ priceMicroUsd: 680_000, size: 2 }, { priceMicroUsd: 690_001, size: 4 }],
    });
    expect(bookTop(book!, 'yes').bestAsk).toBe(309_999);
  });

  test('falls back to cents where dollars are missing', () => {
    expect(readOrderBook({ yes: [[42, 5]], no: [['57', 1]], yes_dollars: null })).toEqual({
      yes: [{ priceMicroUsd: 420_000, size: 5 }], no: [{ priceMicroUsd: 570_000, size: 1 }],
    });
  });

  test('leaves out levels that were taken and those whose price was rounded away', () => {
    expect(readOrderBook({ yes: [[0, 9], [3, 0]], no: [[1, 2]], no_dollars: [['0.5000', 0], ['0.0100', 2]] })).toEqual({
      yes: [], no: [{ priceMicroUsd: 10_000, size: 2 }],
    });
  });

  test('may be empty on one side or on both', () => {
    expect(readOrderBook(EMPTY)).toEqual({ yes: [], no: [] });
    expect(readOrderBook({ ...EMPTY, yes: [[5, 1]], yes_dollars: [['0.0500', 1]] })?.no).toEqual([]);
  });

  test('has no levels on a side that is null', () => {
    expect(readOrderBook({ yes: [[5, 1]], no: null, yes_dollars: [['0.0500', 1]], no_dollars: null }))
      .toEqual({ yes: [{ priceMicroUsd: 50_000, size: 1 }], no: [] });
    expect(() => readOrderBook({ yes: null, no: [[5, 1]], yes_dollars: null, no_dollars: null })).not.toThrow();
  });

  test('reads the same levels from the best bid downwards (reference) and from the worst upwards (hosts)', () => {
    const levels = {
      yes: [[31, 40], [30, 12.5], [1, 900]], no: [[68, 7], [66, 3]],
      yes_dollars: [['0.3100', 40], ['0.3000', 12.5], ['0.0100', 900]], no_dollars: [['0.6800', 7], ['0.6600', 3]],
    };
    const upwards = Object.fromEntries(Object.entries(levels).map(([side, list]) => [side, list.toReversed()]));
    const [reference, live] = [readOrderBook(levels)!, readOrderBook(upwards)!];
    expect(bookTop(live, 'yes')).toEqual(bookTop(reference, 'yes'));
    expect(bookTop(live, 'yes')).toMatchObject({ bestBid: 310_000, bestAsk: 320_000 });
    expect(bookTop(live, 'no')).toEqual(bookTop(reference, 'no'));
  });

  test('keeps levels below a cent apart, whose prices in cents are 0 and repeat', () => {
    const book = readOrderBook({
      yes: [[0, 500.25], [0, 70], [1, 9]], no: [], yes_dollars: [['0.0010', 500.25], ['0.0090', 70], ['0.0100', 9]],
      no_dollars: [],
    })!;
    expect(bookTop(book, 'yes').bestBid).toBe(10_000);
    expect(book.yes).toContainEqual({ priceMicroUsd: 1_000, size: 500.25 });
    expect(book.yes).toContainEqual({ priceMicroUsd: 9_000, size: 70 });
  });

  test('that is null is no book, which is not an empty one', async () => {
    expect(await clientOf(await listen(json('null'))).prediction.orderBook('M')).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['nothing in it', {}],
    ['one side missing', { yes: [], yes_dollars: [] }],
    ['a negative size', { ...EMPTY, yes: [[5, -1]], yes_dollars: [['0.05', -1]] }],
    ['a size that is no number', { ...EMPTY, yes_dollars: [['0.05', 'NaN']], yes: [[5, 1]] }],
    ['a size beyond all numbers', { ...EMPTY, yes_dollars: [['0.05', Infinity]], yes: [[5, 1]] }],
    ['a size whose sums are no numbers', { ...EMPTY, yes_dollars: [['0.05', 1e308]], yes: [[5, 1]] }],
    ['a price above a dollar', { ...EMPTY, yes: [[100, 1]], yes_dollars: [['1.000001', 1]] }],
    ['a price in micro dollars', { ...EMPTY, yes: [[42, 1]], yes_dollars: [['420000', 1]] }],
    ['a price in cents among the dollars', { ...EMPTY, yes: [[42, 1]], yes_dollars: [['42', 1]] }],
    ['dollars among the cents', { yes: [[0.42, 1]], no: [] }],
    ['a negative price', { ...EMPTY, yes_dollars: [['-0.1', 1]] }],
    ['a price too exact to be one', { ...EMPTY, yes: [[42, 1]], yes_dollars: [['0.4200001', 1]] }],
    ['a price that is no number', { ...EMPTY, yes_dollars: [['NaN', 1]] }],
    ['cents and dollars a cent apart', { ...EMPTY, yes: [[42, 1]], yes_dollars: [['0.4300', 1]] }],
    ['a level in cents only', { ...EMPTY, yes: [[42, 1], [50, 1]], yes_dollars: [['0.42', 1]] }],
    ['a level in dollars only', { ...EMPTY, yes: [[42, 1]], yes_dollars: [['0.42', 1], ['0.5', 1]] }],
    ['a level that is no pair', { ...EMPTY, yes_dollars: [['0.42']], yes: [[42, 1]] }],
    ['a side that is no list', { ...EMPTY, no_dollars: 'none' }],
    ['a list of books', [EMPTY]],
  ])('with %s is malformed', (_name, answer) => {
    expect(() => readOrderBook(answer as Json)).toThrow(MALFORMED);
  });

  test.each<[string, Json]>([
    ['words', 'none'], ['an object', {}], ['levels of words', [['thirty', 5]]], ['broken cents', [[30.5, 5]]],
  ])('whose cents are %s is read from its dollars', (_name, yes) => {
    const unread: string[] = [];
    const exact = { yes_dollars: [['0.3000', 5]], no_dollars: [] };
    expect(readOrderBook({ ...exact, yes, no: [] }, (member) => unread.push(member)))
      .toEqual(readOrderBook(exact));
    expect(new Set(unread)).toEqual(new Set(['yes']));
  });

  test('whose cents are its dollars rounded or cut off is always believed, in any order', () => {
    const level = fc.tuple(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 1, max: 1_000 }));
    fc.assert(fc.property(fc.array(level, { maxLength: 30 }), fc.infiniteStream(fc.nat()),
      fc.constantFrom(Math.round, Math.floor), (levels, shuffle, inCents) => {
        const dollars = levels.map(([micro, size]) => [(micro / 1e6).toFixed(6), size] as const);
        const cents = levels.map(([micro, size]) => [inCents(micro / 10_000), size] as const)
          .sort(() => (shuffle.next().value! % 3) - 1);
        const book = readOrderBook({ yes: cents, yes_dollars: dollars, no: [], no_dollars: [] });
        expect(book?.yes).toEqual(levels.map(([priceMicroUsd, size]) => ({ priceMicroUsd, size })));
      }));
  });
});
