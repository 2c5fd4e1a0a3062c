import { describe, expect, it } from 'vitest';
import dailySpending from '../../../docs/strategies/recipes/sizes/daily-spending.ts';
import dailyWeights from '../../../docs/strategies/recipes/sizes/daily-weights.ts';
import oddsSize from '../../../docs/strategies/recipes/sizes/odds-size.ts';
import volatilitySize from '../../../docs/strategies/recipes/sizes/volatility-size.ts';
import { testStrategy } from '../../../src/testing/index.ts';

describe('the recipes of sizes', () => {
  it('volatility-size buys less the more the price moves', () => {
    const bought = [1, 2, 100].map((range) => testStrategy(volatilitySize, {
      params: { pair: 'SOL/USDC', quoted: '25 USDC', bars: 1, minimum: '10 USDC' },
    }).series('30s', { bar: Array.from({ length: 21 }, (_, i) => 100 + (i % 2) * range) }).approved[0]?.amount);
    // The prices of purchases are rounded to the smallest unit of what they bring.
    expect(bought).toEqual(['499.999903 USDC', expect.stringMatching(/^(?:249\.9999\d+|250) USDC$/), undefined]);
  });

  it('odds-size stakes more on better odds, and nothing below the costs', () => {
    const run = testStrategy(oddsSize, {
      params: { pair: 'SOL/USDC', minimum: '5 USDC' }, prices: { 'SOL/USDC': 100 }, budget: '100 USDC',
    });
    run.feed('forecast', ['1s', { id: 'a', probability: 0.52 }], '2s maybe', ['3s', { id: 'b', probability: 0.545 }],
      ['4s', { id: 'c', probability: 0.56 }]);
    expect(run.approved.map(({ key, amount }) => `${key} ${amount}`)).toEqual(['b 5.032206 USDC', 'c 20.128824 USDC']);
  });

  it('daily-spending stops for the day, over a restart too, and goes on the next', () => {
    const params = { pair: 'SOL/USDC', size: '25 USDC', per_day: '60 USDC', below: 100 };
    const run = testStrategy(dailySpending, { params, swaps: ['fill', 'fail', 'fill'] });
    run.series('1h', { price: [99, 101, 99, 99] }).restart().series('1h', { price: [99, 99] });
    expect(run.lines('outcome')).toEqual([
      '0s filled 25 USDC -> 0.252525252 SOL', '2h failed 25 USDC -> SOL (6001)', '3h filled 25 USDC -> 0.252525252 SOL',
    ]);
    run.advanceTo('24h').emit('price', 99);
    expect(run.lines('swap').slice(3)).toEqual(['1d buy 25 USDC -> SOL "60 USDC are left today"']);
  });

  it('daily-weights restores the weight once a day, and goes on after a swap that failed', () => {
    const run = testStrategy(dailyWeights, {
      params: { pair: 'SOL/USDC', sale: '1 SOL', minimum: '10 USDC' }, swaps: [{ end: 'fail', after: '90m' }, 'fill'],
    });
    run.series('1h', { price: [100, 100, 100, 100, 130, ...Array.from({ length: 20 }, () => 150)] });
    expect(run.lines('swap')).toEqual([
      '0s buy 500 USDC -> SOL "daily: SOL is 50.0 points under its weight"',
      '2h buy 500 USDC -> SOL "daily: SOL is 50.0 points under its weight"',
      '14h sell 0.833333333 SOL -> USDC "daily: SOL is 10.0 points over its weight"',
    ]);
  });
});
