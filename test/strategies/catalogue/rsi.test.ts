import { describe, expect, it } from 'vitest';
import { paramErrors } from '../../../src/testing/index.ts';
import rsi from '../../../strategies/rsi.ts';
import { closesAt, shownBars, shownWithRestarts, TEN_SECONDS, waves } from './bar-prices.ts';

const PARAMS = { pair: 'SOL/USDC', size: '96 USDC', ...TEN_SECONDS, window: 2 };

const runOf = (prices: readonly (number | undefined)[], params: object = {}) =>
  shownBars(rsi, { params: { ...PARAMS, ...params } }, { bar: prices });

/** The closes by which ChartSchool of StockCharts explains the index; its table begins with 70.53. */
const PUBLISHED = [
  44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826, 45.8931, 46.0328, 45.6140,
  46.2820, 46.2820, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439, 46.2122, 46.2521, 45.7137, 46.4515, 45.7835, 45.3548,
  44.0288, 44.1783, 44.2181, 44.5672, 43.4205, 42.6628, 43.1314,
];

describe('the relative strength index', () => {
  it('buys after falling bars, and sells after rising ones', () => {
    // Closes 100, 98, 96, 97, 99. Mean gain and loss of two changes, then Wilder's steps of a half: (0, 2) an index of
    // 0, (0.5, 1) 33.33, (1.25, 0.5) 71.43.
    expect(runOf(closesAt(100, 98, 96, 97, 99)).lines()).toEqual([
      '30s buy 96 USDC -> SOL "the index is 0.00 at 96.0000" key=index/1',
      '30s filled 96 USDC -> 1 SOL key=index/1',
      '50s sell 1 SOL -> USDC "the index is 71.43 at 99.0000"',
      '50s filled 1 SOL -> 99 USDC',
    ]);
  });

  it('is Wilder’s, seeded with the simple mean of the first changes', () => {
    // With an exponential seed the first value would be 71.86.
    const first = runOf(closesAt(...PUBLISHED), { window: 14, buy_below: 71, sell_above: 99 });
    expect(first.approved.map(({ at, reason }) => `${at} ${reason}`)).toEqual(['2m30s the index is 70.53 at 46.2820']);
    const lowest = runOf(closesAt(...PUBLISHED), { window: 14, buy_below: 35 });
    expect(lowest.approved.map(({ at, reason }) => `${at} ${reason}`)).toEqual(['5m20s the index is 33.08 at 42.6628']);
    expect(runOf(closesAt(...PUBLISHED), { window: 14 }).lines()).toEqual([]);
  });

  it('is 50 where the price has never changed, and 100 where it has only risen', () => {
    expect(runOf(closesAt(100, 100, 100, 100, 100)).lines()).toEqual([]);
    expect(runOf(closesAt(100, 100, 100, 101), { buy_below: 50.5 }).approved.map(({ reason }) => reason))
      .toEqual(['the index is 50.00 at 100.000', 'the index is 100.00 at 101.000']);
  });

  it('decides when a bar is over, and never by one that repeats the close before', () => {
    // Within the third bar the price is 60, and it closes at 99: changes of -1 and 0 after 100 and 99.
    expect(runOf([100, 100, 100, 100, 101, 60, 102]).lines()).toEqual([]);
    // Two bars without a price: the changes are those of the bars before and after, -2 and -2.
    const run = runOf([100, 100, 100, 98, 98, ...Array<undefined>(4), 96, 96]);
    expect(run.approved.map(({ at, reason }) => `${at} ${reason}`)).toEqual(['50s the index is 0.00 at 96.0000']);
  });

  it('buys once while the index stays low', () => {
    expect(runOf(closesAt(...Array.from({ length: 20 }, (_, n) => 100 - n))).approved).toHaveLength(1);
  });

  it('decides the same with and without restarts', () => {
    const options = { params: { ...PARAMS, window: 5 } };
    const run = shownWithRestarts(rsi, options, { bar: waves(400) });
    expect(run.approved.length).toBeGreaterThan(5);
    expect(run.lines('swap')).toEqual(shownBars(rsi, options, { bar: waves(400) }).lines('swap'));
  });

  it('refuses invalid parameters', () => {
    expect(paramErrors(rsi, PARAMS)).toEqual([]);
    expect(paramErrors(rsi, { ...PARAMS, size: '1 SOL' }))
      .toEqual(['size: expected an amount of the pair’s quote token']);
    expect(paramErrors(rsi, { ...PARAMS, buy_below: 70 })).toEqual(['buy_below: expected less than sell_above']);
    for (const change of [{ window: 1 }, { window: 2.5 }, { buy_below: 0 }, { sell_above: 100 }])
      expect(paramErrors(rsi, { ...PARAMS, ...change })).toHaveLength(1);
  });
});
