import { describe, expect, it } from 'vitest';
import trailingStop from '../../../strategies/trailing-stop.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = { pair: 'SOL/USDC', sale: '1 SOL', distance: 0.05, buy: '100 USDC' };

describe('trailing-stop', () => {
  it('follows the best price, never goes back, and sells all at the distance below it', () => {
    const run = testStrategy(trailingStop, { params: PARAMS });
    // The best price is 120, so the stop is at 114: 114.1 is above it, although 105 was the stop of 110 before.
    run.series('5s', { price: [100, 110, 105, 120, 116, 114.1, 114, 90, 130, 50] });
    expect(run.lines().map((line) => line.replace(/ key=.*/, ''))).toEqual([
      '0s buy 100 USDC -> SOL "the entry"', '0s filled 100 USDC -> 1 SOL',
      '30s sell 1 SOL -> USDC "114.000 is 5 % below the best price"', '30s filled 1 SOL -> 114 USDC',
    ]);
  });

  it('is armed from its activation on', () => {
    const run = testStrategy(trailingStop, { params: { ...PARAMS, activation: 120 } });
    run.series('5s', { price: [100, 110, 90, 119, 100, 120, 114] });
    expect(run.approved.map(({ at, from }) => [at, from])).toEqual([['0s', 'USDC'], ['30s', 'SOL']]);
  });

  it('keeps the best price over a kill, and buys no second time', () => {
    const run = testStrategy(trailingStop, { params: PARAMS });
    run.series('5s', { price: [100, 110, 120] }).restart({ after: '2s' });
    run.feed('price', '15s 115', '20s 114', '25s 114');
    expect(run.approved.map(({ at, from }) => [at, from])).toEqual([['0s', 'USDC'], ['20s', 'SOL']]);
  });

  it('sells a budget in the base token where it buys nothing', () => {
    const { buy, ...held } = PARAMS;
    expect(buy).toBe('100 USDC');
    const run = testStrategy(trailingStop, { params: held, budget: '2 SOL' });
    run.series('5s', { price: [100, 120, 114] });
    expect(run.approved.map(({ at, amount }) => [at, amount])).toEqual([['10s', '2 SOL']]);
  });

  it('sells again after a sale that failed, still below the same best price', () => {
    const run = testStrategy(trailingStop, { params: PARAMS, swaps: ['fill', 'fail', 'fill'] });
    run.series('5s', { price: [100, 120, 114, 113, 112] });
    expect(run.approved.map(({ at, key }) => [at, key]))
      .toEqual([['0s', 'entry/1'], ['10s', 'stop/1'], ['15s', 'stop/2']]);
  });

  it('refuses bad parameters', () => {
    expect(paramErrors(trailingStop, PARAMS)).toEqual([]);
    expect(paramErrors(trailingStop, { ...PARAMS, distance: 0.95 })[0]).toMatch(/^distance: /);
    expect(paramErrors(trailingStop, { ...PARAMS, sale: '1 USDC' })[0]).toMatch(/^sale: /);
    expect(paramErrors(trailingStop, { ...PARAMS, buy: '1 SOL' })[0]).toMatch(/^buy: /);
  });
});
