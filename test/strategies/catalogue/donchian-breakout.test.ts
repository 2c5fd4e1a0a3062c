import { describe, expect, it } from 'vitest';
import { paramErrors } from '../../../src/testing/index.ts';
import donchianBreakout from '../../../strategies/donchian-breakout.ts';
import { shownBars, shownWithRestarts, TEN_SECONDS, waves } from './bar-prices.ts';

const PARAMS = { pair: 'SOL/USDC', size: '100 USDC', ...TEN_SECONDS, entry: 3, exit: 2 };

const runOf = (prices: readonly (number | undefined)[]) =>
  shownBars(donchianBreakout, { params: PARAMS }, { bar: prices });

/** The prices of bars as [first price, close]. */
const bars = (...all: readonly (readonly [number, number])[]): number[] => all.flat();

describe('a Donchian breakout', () => {
  it('buys above the highest price of the bars before, and sells below the lowest of fewer', () => {
    const run = runOf([100, ...bars([101, 100], [103, 102], [101, 101], [102, 103], [104, 104], [105, 106],
      [104, 104], [104, 103.5], [103, 103])]);
    // Highest of bars 1 to 3: 103, which a close of 103 is not above. Of bars 2 to 4: 103, so 104 is. The lowest of the
    // two bars before a close of 104 is 104, before 103.5 it is 104, which that undercuts.
    expect(run.lines()).toEqual([
      '50s buy 100 USDC -> SOL "104.000 is above the 3 bars before, 103.000" key=breakout/1',
      '50s filled 100 USDC -> 0.961538461 SOL key=breakout/1',
      '1m20s sell 0.961538461 SOL -> USDC "103.500 against the lowest price of the 2 bars before, 104.000"',
      '1m20s filled 0.961538461 SOL -> 99.51923 USDC',
    ]);
  });

  it('leaves the present bar out of its channel, so that its own high does not hold it back', () => {
    // The fourth bar has a high of 105 and closes at 104: with itself in the channel no close is above it.
    expect(runOf([100, ...bars([101, 100], [103, 102], [101, 101], [105, 104])]).approved.map(({ at }) => at))
      .toEqual(['40s']);
  });

  it('decides when a bar is over, and never by one that repeats the close before', () => {
    // The high of 110 stands in the middle of a bar that closes at 101.
    expect(runOf([100, ...bars([101, 100], [103, 102], [101, 101], [110, 101])]).lines()).toEqual([]);
    // Without prices from 35 s to 60 s two bars are gaps: the channel is that of the three bars before them.
    const run = runOf([100, ...bars([101, 100], [103, 102], [101, 101]), ...Array<undefined>(5), 104, 104, 104]);
    expect(run.approved.map(({ at }) => at)).toEqual(['1m']);
  });

  it('buys once in a trend, and again only after a sale', () => {
    const rising = Array.from({ length: 40 }, (_, n) => 100 + n);
    expect(runOf(rising).approved).toHaveLength(1);
    expect(runOf([...rising, ...rising.toReversed(), ...rising]).approved.map(({ from }) => from))
      .toEqual(['USDC', 'SOL', 'USDC']);
  });

  it('buys before it sells: a fall at the start leads to nothing', () => {
    expect(runOf(Array.from({ length: 40 }, (_, n) => 100 - n)).lines()).toEqual([]);
  });

  it('decides the same with and without restarts', () => {
    const prices = waves(400);
    const run = shownWithRestarts(donchianBreakout, { params: PARAMS }, { bar: prices });
    expect(run.approved.length).toBeGreaterThan(10);
    expect(run.lines('swap')).toEqual(runOf(prices).lines('swap'));
  });

  it('refuses invalid parameters', () => {
    expect(paramErrors(donchianBreakout, PARAMS)).toEqual([]);
    expect(paramErrors(donchianBreakout, { ...PARAMS, size: '1 SOL' }))
      .toEqual(['size: expected an amount of the pair’s quote token']);
    expect(paramErrors(donchianBreakout, { ...PARAMS, exit: 4 })).toEqual(['exit: expected at most entry']);
    expect(paramErrors(donchianBreakout, { ...PARAMS, entry: 1, exit: 1 })).toHaveLength(2);
    expect(paramErrors(donchianBreakout, { ...PARAMS, entry: 201 })).toHaveLength(1);
  });
});
