import { describe, expect, it } from 'vitest';
import smaCrossover from '../../strategies/sma-crossover.ts';
import type { StrategyRun, TestOptions } from '../../src/testing/index.ts';
import { paramErrors, testStrategy } from '../../src/testing/index.ts';

const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', fast: 2, slow: 4 };

/** Shows prices, one every five seconds from the start on. */
const show = (prices: readonly number[], options: TestOptions = {}): StrategyRun =>
  testStrategy(smaCrossover, { params: PARAMS, ...options }).series('5s', { price: prices });

/** Returns the approved swaps without amounts and reasons: "15s buy". */
const swaps = (run: StrategyRun): string[] => run.lines('swap').map((line) => line.split(' ').slice(0, 2).join(' '));

describe('sma crossover', () => {
  it('buys when the fast mean rises above the slow one, and sells all when it falls below', () => {
    // Fast and slow, computed manually from the fourth price on: (103, 102), (104, 103), (101, 102.5), (98, 101), (107,
    // 102.5).
    const run = show([100, 102, 102, 104, 104, 98, 98, 116]);
    expect(run.lines('swap')).toEqual([
      '15s buy 25 USDC -> SOL "the 2-price mean is above the 4-price mean at 104.000"',
      '25s sell 0.240384615 SOL -> USDC "the 2-price mean is below the 4-price mean at 98.0000"',
      '35s buy 25 USDC -> SOL "the 2-price mean is above the 4-price mean at 116.000"',
    ]);
    expect(run.balance('SOL')).toBe('0.215517241 SOL');
  });

  it('repeats a failed sale as long as the trend is down', () => {
    const run = show([100, 102, 102, 104, 104, 98, 97, 96, 95], { swaps: ['fill', 'abandon', 'abandon', 'fill'] });
    expect(swaps(run)).toEqual(['15s buy', '25s sell', '30s sell', '35s sell']);
    expect(run.balance('SOL')).toBe('0 SOL');
  });

  it('does not sell what it does not have', () => {
    expect(show([104, 103, 102, 101, 100]).lines()).toEqual([]);
  });

  it('does nothing on a constant price, despite rounding errors', () => {
    const prices = Array.from({ length: 300 }, () => 0.1);
    expect(show(prices, { params: { ...PARAMS, fast: 20, slow: 100 } }).lines()).toEqual([]);
  });

  it('refuses invalid parameters', () => {
    const errors = (params: object): string[] => paramErrors(smaCrossover, { ...PARAMS, ...params });
    expect(errors({})).toEqual([]);
    expect(errors({ fast: 4 })).toEqual(['fast: expected less than slow']);
    expect(errors({ size: '1 SOL' })).toEqual(['size: expected an amount of the pair’s quote token']);
  });
});
