import { describe, expect, it } from 'vitest';
import bracket from '../../../strategies/bracket.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = {
  pair: 'SOL/USDC', size: '100 USDC', sale: '1 SOL', take_profit: 0.1, stop_loss: 0.05, time_limit: '1m',
};
const reasons = (prices: readonly number[], params: object = PARAMS): string[] => {
  const run = testStrategy(bracket, { params: { ...params } });
  run.series('5s', { price: prices });
  return run.approved.map(({ at, amount, reason }) => `${at} ${amount}: ${reason}`);
};

describe('bracket', () => {
  it.each([
    // The network fee of the purchase is part of the cost, so that a price of 110 is not yet a gain of 10 %.
    ['the gain', [100, 105, 110, 110.1], '15s 1 SOL: take profit at 10.10 %'],
    ['the loss', [100, 101, 95.1, 95], '15s 1 SOL: stop loss at -5.00 %'],
    ['a gap through the stop, at the first price after it', [100, 60], '5s 1 SOL: stop loss at -40.00 %'],
  ])('buys once and sells all by %s', (_name, prices, exit) => {
    expect(reasons([...prices, 100, 50, 200])).toEqual(['0s 100 USDC: the entry', exit]);
  });

  it('sells after its time, counted from the first price that it holds the position at', () => {
    expect(reasons(Array.from({ length: 30 }, () => 100)))
      .toEqual(['0s 100 USDC: the entry', '1m5s 1 SOL: held for 1m']);
  });

  it('lets the loss count where one poll shows the loss and the end of the time', () => {
    expect(reasons([...Array.from({ length: 13 }, () => 100), 90])).toEqual(
      ['0s 100 USDC: the entry', '1m5s 1 SOL: stop loss at -10.00 %']);
  });

  it('enters at or below a price', () => {
    expect(reasons([100, 99, 98, 99, 98], { ...PARAMS, enter_below: 98 })).toEqual(['10s 100 USDC: the entry']);
  });

  it('buys no second time after a kill, and keeps the time of its position', () => {
    const run = testStrategy(bracket, { params: PARAMS });
    run.series('5s', { price: [100, 100, 100] }).restart({ after: '2s' });
    run.feed('price', ...Array.from({ length: 13 }, (_, n) => `${15 + 5 * n}s 100`));
    expect(run.approved.map(({ at, reason }) => `${at} ${reason}`)).toEqual(['0s the entry', '1m5s held for 1m']);
  });

  it('refuses bad parameters', () => {
    expect(paramErrors(bracket, PARAMS)).toEqual([]);
    expect(paramErrors(bracket, { ...PARAMS, size: '1 SOL' })[0]).toMatch(/^size: expected an amount of the pair/);
    expect(paramErrors(bracket, { ...PARAMS, sale: '1 USDC' })[0]).toMatch(/^sale: expected an amount of the pair/);
    expect(paramErrors(bracket, { ...PARAMS, stop_loss: 1 })[0]).toMatch(/^stop_loss: /);
    expect(paramErrors(bracket, { ...PARAMS, take_profit: 0 })[0]).toMatch(/^take_profit: /);
  });
});
