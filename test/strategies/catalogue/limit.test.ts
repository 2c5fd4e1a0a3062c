import { describe, expect, it } from 'vitest';
import limit from '../../../strategies/limit.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = {
  pair: 'SOL/USDC', side: 'buy', size: '100 USDC', trigger: 'below', price: 95, expires: '2026-01-01T00:01:00Z',
};
const swapsOf = (params: object, both: readonly (number | object)[]): string[] => {
  const run = testStrategy(limit, { params: { ...params }, wallet: { SOL: '20' } });
  run.series('5s', { both: [...both] as number[] });
  return run.lines('swap').map((line) => line.replace(/ key=.*/, ''));
};

describe('limit', () => {
  it.each([
    ['a purchase below', PARAMS, [96, 94.9, 94, 93], '10s buy 100 USDC -> SOL "94.0000 is below 95"'],
    ['a purchase above', { ...PARAMS, trigger: 'above' }, [94, 95, 96, 97],
      '10s buy 100 USDC -> SOL "96.0000 is above 95"'],
  ])('swaps once at the second price in a row beyond its level: %s', (_name, params, prices, expected) => {
    expect(swapsOf(params, prices)).toEqual([expected]);
  });

  it('sells a budget in the base token by the price of a sale', () => {
    const run = testStrategy(limit, {
      params: { ...PARAMS, side: 'sell', size: '1 SOL', trigger: 'above', price: 110 }, budget: '1 SOL',
    });
    run.series('5s', { both: [{ buy: 111, sell: 109 }, { buy: 111, sell: 110 }, { buy: 112, sell: 111 }] });
    expect(run.approved.map(({ at, amount, reason }) => [at, amount, reason]))
      .toEqual([['10s', '1 SOL', '111.000 is above 110']]);
  });

  it('begins to count again after one price within its level, and ignores prices whose sides are far apart', () => {
    const wick = { buy: 90, sell: 80 };
    expect(swapsOf(PARAMS, [94, 96, 94, 96, wick, wick, wick])).toEqual([]);
    expect(swapsOf(PARAMS, [94, wick, 94])).toEqual(['10s buy 100 USDC -> SOL "94.0000 is below 95"']);
  });

  it('expires unfilled with one alert, over a kill too', () => {
    const run = testStrategy(limit, { params: PARAMS });
    run.series('5s', { both: Array.from({ length: 14 }, () => 100) }).restart({ after: '1s' });
    run.feed('both', '1m10s 90', '1m15s 90', '1m20s 90');
    expect(run.lines()).toEqual(['1m warning "the order has expired unfilled"']);
  });

  it('has no alert at its end when it was filled, and swaps no second time after a kill', () => {
    const run = testStrategy(limit, { params: PARAMS });
    run.series('5s', { both: [94, 94] }).restart({ after: '1s' });
    run.feed('both', '10s 94', '15s 94', '1m10s 94');
    expect(run.approved).toHaveLength(1);
    expect(run.alerts).toEqual([]);
  });

  it('asks for the amount of its level at least where that is configured', () => {
    const run = testStrategy(limit, { params: { ...PARAMS, at_limit: true, slippage_bps: 30 } });
    run.series('5s', { both: [94, 94] });
    // 100 / 95, rounded up at the ninth place.
    expect(run.approved[0]!.proposal).toMatchObject({ limit: 1_052_631_579n, slippageBps: 30 });
  });

  it('refuses bad parameters', () => {
    expect(paramErrors(limit, PARAMS)).toEqual([]);
    expect(paramErrors(limit, { ...PARAMS, size: '1 SOL' })[0]).toMatch(/^size: expected an amount of the quote token/);
    expect(paramErrors(limit, { ...PARAMS, expires: undefined })[0]).toMatch(/^expires: /);
    expect(paramErrors(limit, { ...PARAMS, expires: 'tomorrow' })[0]).toMatch(/^expires: expected a time in UTC/);
    expect(paramErrors(limit, { ...PARAMS, confirm: 0 })[0]).toMatch(/^confirm: /);
  });
});
