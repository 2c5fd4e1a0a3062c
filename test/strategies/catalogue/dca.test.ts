import { describe, expect, it } from 'vitest';
import dca from '../../../strategies/dca.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = { buy: 'SOL', every: '1m', watch: '10s' };
const swaps = (run: ReturnType<typeof testStrategy>): string[] =>
  run.approved.map(({ at, amount }) => `${at} ${amount}`);

describe('dca of a total', () => {
  it('spends total / purchases each time, and the last purchase takes the dust', () => {
    const run = testStrategy(dca, {
      params: { ...PARAMS, total: '100 USDC', purchases: 3 }, prices: { 'SOL/USDC': 100 },
    });
    run.series('30s', { price: Array.from({ length: 20 }, () => 100) });
    expect(swaps(run)).toEqual(['0s 33.333333 USDC', '1m 33.333333 USDC', '2m 33.333334 USDC']);
    expect(run.balance('USDC')).toBe('900 USDC');
  });

  it('spends the dust last over a kill and a failed purchase too', () => {
    const run = testStrategy(dca, {
      params: { ...PARAMS, total: '100 USDC', purchases: 3 }, prices: { 'SOL/USDC': 100 },
      swaps: ['fill', 'fail', 'fill'],
    });
    run.advanceTo('70s').restart({ after: '1s', isKilled: true });
    run.feed('price', '72s 100').advanceTo('10m');
    expect(swaps(run)).toEqual(['0s 33.333333 USDC', '1m 33.333333 USDC', '2m 33.333333 USDC', '3m 33.333334 USDC']);
    expect(run.balance('USDC')).toBe('900 USDC');
  });
});

describe('dca within limits', () => {
  it('leaves a purchase out while the price is outside, and does not make up for it', () => {
    const run = testStrategy(dca, { params: { ...PARAMS, spend: '10 USDC', min_price: 90, max_price: 110.5 } });
    run.feed('price', '5s 111', '50s 110', '110s 89', '170s 90', '230s 112').advanceTo('250s');
    // Slots at 0, 1, 2, 3 and 4 minutes: 111 at the first price, then 110, 89, 90 and 112.
    expect(swaps(run)).toEqual(['1m 10 USDC', '3m 10 USDC']);
  });

  it('waits for the first price where it has limits', () => {
    const run = testStrategy(dca, { params: { ...PARAMS, spend: '10 USDC', max_price: 110 } });
    run.feed('price', '20s 100', '50s 100');
    expect(swaps(run)).toEqual(['20s 10 USDC']);
  });

  it('begins at its start', () => {
    const run = testStrategy(dca, {
      params: { ...PARAMS, spend: '10 USDC', start: '2026-01-01T00:02:00Z' }, prices: { 'SOL/USDC': 100 },
    });
    run.advanceTo('3m30s');
    expect(swaps(run)).toEqual(['2m 10 USDC', '3m 10 USDC']);
  });

  it('makes one purchase after eight hours without a run, not one for each that was missed', () => {
    const run = testStrategy(dca, { params: { ...PARAMS, spend: '10 USDC' }, prices: { 'SOL/USDC': 100 } });
    run.advanceTo('10s').restart({ after: '8h', isKilled: true }).advance('10s');
    expect(swaps(run)).toEqual(['0s 10 USDC', '8h10s 10 USDC']);
  });

  it('refuses a size twice or not at all, and a total without a number of purchases', () => {
    expect(paramErrors(dca, { ...PARAMS, spend: '10 USDC' })).toEqual([]);
    expect(paramErrors(dca, PARAMS)[0]).toMatch(/^spend: expected either spend/);
    expect(paramErrors(dca, { ...PARAMS, spend: '1 USDC', total: '9 USDC', purchases: 3 })[0]).toMatch(/^spend: /);
    expect(paramErrors(dca, { ...PARAMS, total: '9 USDC' })[0]).toMatch(/^purchases: expected the number/);
    expect(paramErrors(dca, { ...PARAMS, spend: '1 USDC', start: 'soon' })[0]).toMatch(/^start: expected a time in/);
    expect(paramErrors(dca, { ...PARAMS, total: '9 SOL', purchases: 3 })[0]).toMatch(/^buy: expected another token/);
  });
});
