import { describe, expect, it } from 'vitest';
import meanReversion from '../../strategies/mean-reversion.ts';
import type { StrategyRun } from '../../src/testing/index.ts';
import { paramErrors, testStrategy } from '../../src/testing/index.ts';

const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', window: 4, k: 1.4 };

/** Shows prices, one every five seconds from the start on. */
const show = (prices: readonly number[], params: object = {}): StrategyRun =>
  testStrategy(meanReversion, { params: { ...PARAMS, ...params }, budget: '500 USDC' }).series('5s', { price: prices });

/** Returns the approved swaps without amounts and reasons: "15s buy". */
const swaps = (run: StrategyRun): string[] => run.lines('swap').map((line) => line.split(' ').slice(0, 2).join(' '));

const sales = (exitZ: number): string[] =>
  swaps(show([102, 98, 100, 95, 96, 97, 99, 104], { exit_z: exitZ })).filter((swap) => swap.endsWith('sell'));

const swapsAt = (k: number): string[] => swaps(show([102, 98, 100, 95], { k }));

describe('mean reversion', () => {
  it('buys a dip and sells it all when the price is back at its mean, and says by which numbers', () => {
    const run = show([102, 98, 100, 95, 96, 97, 99]);
    // After 98, 100, 95, 96: mean 97.25. After 100, 95, 96, 97: mean exactly 97, so price 97 is back.
    expect(run.lines()).toEqual([
      '15s buy 25 USDC -> SOL "below the lower band: 95.0000 against a mean of 98.7500 (-1.5 deviations)"',
      '15s filled 25 USDC -> 0.263157894 SOL',
      '25s sell 0.263157894 SOL -> USDC "back at the mean: 97.0000 against a mean of 97.0000 (0.0 deviations)"',
      '25s filled 0.263157894 SOL -> 25.526315 USDC',
    ]);
    expect(run.portfolio()).toEqual(['500.526315 USDC']);
  });

  it('computes the band with the population deviation', () => {
    // Of 102, 98, 100, 95: mean 98.75; population deviation 2.58602, sample deviation 2.98608.
    // The lower band at k = 1.4 is 95.1296, at 1.46 94.9744; with the sample's deviation 95 would be under neither.
    expect(swapsAt(1.4)).toEqual(['15s buy']);
    expect(swapsAt(1.45)).toEqual(['15s buy']);
    expect(swapsAt(1.4502)).toEqual([]);
    expect(swapsAt(1.46)).toEqual([]);
  });

  it('does not buy before its window is full', () => {
    expect(show([102, 98, 50]).lines()).toEqual([]);
  });

  it('does not buy more while it holds, however deep the price falls', () => {
    expect(swaps(show([102, 98, 100, 95, 90, 80, 60, 30]))).toEqual(['15s buy']);
  });

  it('proposes nothing while a swap is under way, and buys again once it has ended', () => {
    const run = testStrategy(meanReversion, { params: PARAMS, swaps: ['pending', 'fill'] });
    run.series('5s', { price: [102, 98, 100, 95, 80, 60] });
    expect(swaps(run)).toEqual(['15s buy']);
    run.settle('abandon').series('5s', { price: [20] });
    expect(swaps(run)).toEqual(['15s buy', '30s buy']);
  });

  it('sells at the configured deviation', () => {
    expect(sales(-1)[0]).toBe('20s sell');
    expect(sales(0)[0]).toBe('25s sell');
    expect(sales(1.6)[0]).toBe('35s sell');
  });

  it('does nothing on a constant price', () => {
    expect(show(Array.from({ length: 50 }, () => 0.1), { k: 0.1 }).lines()).toEqual([]);
  });

  it('refuses invalid parameters', () => {
    const errors = (params: object): string[] => paramErrors(meanReversion, { ...PARAMS, ...params });
    expect(errors({})).toEqual([]);
    expect(errors({ size: '1 SOL' })).toEqual(['size: expected an amount of the pair’s quote token']);
    for (const params of [{ window: 1 }, { window: 2.5 }, { k: 0 }, { k: Number.NaN }])
      expect(errors(params)).toHaveLength(1);
  });
});
