import { describe, expect, it } from 'vitest';
import dryLiquidity from '../../../docs/strategies/recipes/exits/dry-liquidity.ts';
import equityFloor from '../../../docs/strategies/recipes/exits/equity-floor.ts';
import gainOrStop from '../../../docs/strategies/recipes/exits/gain-or-stop.ts';
import halfAtGain from '../../../docs/strategies/recipes/exits/half-at-gain.ts';
import rangeStop from '../../../docs/strategies/recipes/exits/range-stop.ts';
import timeLimit from '../../../docs/strategies/recipes/exits/time-limit.ts';
import { testStrategy } from '../../../src/testing/index.ts';

const BUY = { pair: 'SOL/USDC', size: '25 USDC' };

describe('the recipes of exits', () => {
  it('half-at-gain sells half once, over a restart too', () => {
    const run = testStrategy(halfAtGain, { params: { ...BUY, entry: 100 } });
    run.series('5s', { price: [101, 100, 105, 111, 112] }).restart().series('5s', { price: [113] });
    expect(run.lines('swap')).toEqual([
      '5s buy 25 USDC -> SOL "100 or less" key=entry/1',
      '15s sell 0.125 SOL -> USDC "a gain of 10 %" key=half/1',
    ]);
  });

  it('time-limit sells after its time, which a restart does not begin again', () => {
    const params = { ...BUY, entry: 100, hold: '1h' };
    const run = testStrategy(timeLimit, { params, swaps: { end: 'fill', after: '2m' } });
    run.feed('price', '10s 100').advanceTo('50m').restart({ after: '1m' }).advanceTo('2h');
    expect(run.lines('swap', 'denial')).toEqual([
      '10s buy 25 USDC -> SOL "cheap" key=entry/1', '1h3m sell 0.25 SOL -> USDC "held for 1h"',
    ]);
  });

  it('range-stop has its stop farther away in a wild market', () => {
    const sales = [1, 5].map((range) => testStrategy(rangeStop, { params: { ...BUY, bars: 2 } })
      .series('10s', { bar: [...Array.from({ length: 19 }, (_, i) => 100 + (i % 2) * range),
        ...Array.from({ length: 12 }, () => 97)] }).lines('swap').slice(1));
    expect(sales).toEqual([['5m sell 0.25 SOL -> USDC "below the stop at 98.00"'], []]);
  });

  it('dry-liquidity sells when much of the most that was seen is gone', () => {
    const run = testStrategy(dryLiquidity, { params: BUY });
    run.feeds({
      stats: [['1s', { liquidity: 1e6 }], ['20s', { liquidity: 2e6 }], ['30s', { usdPrice: 100 }],
        ['40s', { liquidity: 1.5e6 }], ['50s', { liquidity: 1.3e6 }]],
      price: ['0s 100', '10s 100'],
    });
    expect(run.lines('swap')).toEqual([
      '10s buy 25 USDC -> SOL "the liquidity is known" key=entry/1',
      '50s sell 0.25 SOL -> USDC "$1300000 of $2000000 is left" key=exit/1',
    ]);
  });

  it('equity-floor sells when the equity falls below the floor', () => {
    const params = { pair: 'SOL/USDC', size: '500 USDC', entry: 100, floor: '950 USDC' };
    const run = testStrategy(equityFloor, { params }).series('5s', { price: [100, 91, 89] });
    expect(run.lines('swap')).toEqual([
      '0s buy 500 USDC -> SOL "cheap" key=entry/1',
      '10s sell 5 SOL -> USDC "the equity is below the floor" key=exit/1',
    ]);
  });

  it('gain-or-stop sells by the first of its prices, and once', () => {
    const params = { pair: 'SOL/USDC', spend: '25 USDC', sale: '0.25 SOL', gain: 110, stop: 95 };
    const sales = (...price: number[]): string[] =>
      testStrategy(gainOrStop, { params }).series('5s', { sale: price }).lines('swap').slice(1);
    expect(sales(100, 96, 95, 111)).toEqual(['10s sell 0.25 SOL -> USDC "stop" key=exit/1']);
    expect(sales(90, 120, 100, 109, 94)).toEqual(['20s sell 0.25 SOL -> USDC "stop" key=exit/1']);
    expect(sales(100, 109, 111, 90)).toEqual(['10s sell 0.25 SOL -> USDC "gain" key=exit/1']);
  });
});
