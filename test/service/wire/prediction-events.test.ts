import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { MARKETS, readEvents } from '../../../src/service/wire/prediction-events.ts';
import { readRecords } from '../../../src/service/wire/read.ts';
import { eventAnswer, flatMarketAnswer, marketAnswer } from '../endpoints/prediction-answers.ts';
import type { PredictionMarket } from '../../../src/market/prediction.ts';

function readMarket(answer: Record<string, unknown>): PredictionMarket {
  const { records, rejected } = readRecords(MARKETS, [answer] as Json);
  expect(rejected).toEqual([]);
  return records[0]!;
}

const TEXTS = {
  title: 'The tide comes in', isTeamMarket: false, rulesPrimary: 'By the gauge in the harbour.',
  rulesSecondary: 'By eye, if it is broken.',
};

describe('a market', () => {
  test('is read in every field of the reference', () => {
    expect(readMarket(marketAnswer('M', { resolveAt: 1_790_000_100, result: 'yes', status: 'closed' }))).toEqual({
      marketId: 'M', status: 'closed', result: 'yes', openTime: 1_780_000_000_000, closeTime: 1_790_000_000_000,
      resolveAt: 1_790_000_100_000,
      marketResultPubkey: 'Rslt1111111111111111111111111111111111111111', imageUrl: 'https://images.example/m.png',
      provider: undefined, outcomes: [],
      metadata: {
        marketId: 'M', eventId: undefined, status: 'open', result: 'yes', closeTime: 1_790_000_000_000,
        openTime: 1_780_000_000_000, ...TEXTS,
      },
      pricing: {
        buyYesPriceUsd: 310_000n, buyNoPriceUsd: 700_000n, sellYesPriceUsd: 300_000n, sellNoPriceUsd: 690_000n,
        volume: 12_345_678,
      },
    });
  });

  test('says the same flat as nested, and what only the flat form says', () => {
    const { provider, outcomes, ...flat } = readMarket(flatMarketAnswer('M', { resolveAt: '2026-09-21T14:13:20Z' }));
    const { provider: none, outcomes: noOutcomes, ...nested } =
      readMarket(marketAnswer('M', { resolveAt: 1_790_000_000 }));
    expect(flat).toEqual(nested);
    expect([provider, outcomes, none, noOutcomes]).toEqual(['provider_b', ['In', 'Out'], undefined, []]);
  });

  test.each<[string, unknown, number | undefined]>([
    ['seconds', 1_783_252_500, 1_783_252_500_000], ['seconds as text', '1783252500', 1_783_252_500_000],
    ['ISO text', '2026-07-05T11:55:00Z', 1_783_252_500_000],
    ['null', null, undefined], ['nothing', undefined, undefined], ['zero', 0, undefined], ['a word', 'soon', undefined],
  ])('takes times as %s', (_form, value, instant) => {
    const market = readMarket(marketAnswer('M', { closeTime: value, resolveAt: value }));
    expect([market.closeTime, market.resolveAt]).toEqual([instant, instant]);
  });

  test('has no price where the service says 0, which is no price', () => {
    const pricing = { buyYesPriceUsd: 190_000, sellYesPriceUsd: 0, buyNoPriceUsd: null, volume: 0 };
    expect(readMarket(marketAnswer('M', { pricing })).pricing).toEqual({ buyYesPriceUsd: 190_000n, volume: 0 });
    expect(readMarket(marketAnswer('M', { pricing: null })).pricing).toEqual({});
  });

  test('passes unknown words', () => {
    expect(readMarket(marketAnswer('M', { status: 'paused', result: 'draw' })))
      .toMatchObject({ status: 'paused', result: 'draw' });
    expect(readMarket(marketAnswer('M', { result: '' })).result).toBeUndefined();
  });

  test('of which only the id is known is one', () => {
    expect(readMarket({ marketId: 'M' }))
      .toEqual({ marketId: 'M', outcomes: [], metadata: { marketId: 'M' }, pricing: {} });
  });

  test('without an id is rejected, and its neighbours are not', () => {
    const { records, rejected } =
      readRecords(MARKETS, [marketAnswer('A'), marketAnswer(''), marketAnswer('B')] as Json);
    expect(records.map(({ marketId }) => marketId)).toEqual(['A', 'B']);
    expect(rejected).toHaveLength(1);
  });

  test.each([
    ['in dollars', 0.31], ['above one dollar', 1_000_001], ['below zero', -1],
  ])('with a price %s has none there', (_name, buyYesPriceUsd) => {
    expect(readMarket(marketAnswer('M', { pricing: { buyYesPriceUsd, sellYesPriceUsd: 300_000 } })).pricing)
      .toEqual({ sellYesPriceUsd: 300_000n });
  });
});

describe('an event', () => {
  test('is read in every field of the reference', () => {
    const { records } = readEvents({ data: [eventAnswer('TIDES')] } as Json);
    expect(records).toEqual([{
      eventId: 'TIDES', isActive: true, isLive: false, category: 'weather', subcategory: 'tides',
      volumeUsd: 4_321_000_987_000_000n,
      closeCondition: 'When the tide has turned.', beginAt: 1_783_300_200_000,
      rulesPdf: 'https://rules.example/tides.pdf', tags: ['sea', '5m'],
      metadata: {
        eventId: 'TIDES', title: 'Tides of the week', subtitle: 'Spring', slug: 'tides-of-the-week', series: 'tides',
        closeTime: Date.UTC(2026, 6, 20),
        imageUrl: 'https://images.example/e.png', isLive: false,
      },
      markets: [readMarket(marketAnswer('TIDES-1'))],
    }]);
  });

  test('may come without most of it, and in a bare list', () => {
    const { records } =
      readEvents([{ eventId: 'TIDES', beginAt: null, volumeUsd: 'much', markets: null, metadata: null }]);
    expect(records).toMatchObject([
      { eventId: 'TIDES', beginAt: undefined, volumeUsd: undefined, tags: [], metadata: {}, markets: [] },
    ]);
  });

  test('loses a market that cannot be read, which is reported by its own id', () => {
    const { records, rejected } = readEvents({ data: [
      eventAnswer('E', { markets: [marketAnswer('A'), marketAnswer('B', { marketId: 5 }), flatMarketAnswer('C')] }), 7,
    ] } as Json);
    expect(records[0]!.markets.map(({ marketId }) => marketId)).toEqual(['A', 'C']);
    expect(rejected.map(({ id }) => id)).toEqual(['5', undefined]);
  });

  test.each<[string, Json]>([
    ['null', null], ['a word', 'none'], ['an object without data', {}], ['data that is no list', { data: {} }],
  ])('list that is %s is malformed', (_name, answer) => {
    expect(() => readEvents(answer)).toThrow(expect.objectContaining({ code: 'SERVICE_MALFORMED' }) as Error);
  });
});
