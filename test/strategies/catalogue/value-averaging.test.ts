import { describe, expect, it } from 'vitest';
import valueAveraging from '../../../strategies/value-averaging.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = {
  pair: 'SOL/USDC', step: '100 USDC', cap: '300 USDC', sale: '1 SOL', minimum: '5 USDC', every: '1m', watch: '10s',
};
/** Shows one price a minute, from 50 s before each interval on. */
const swapsOf = (params: object, prices: readonly number[], budget = '2000 USDC'): string[] => {
  const run = testStrategy(valueAveraging, { params: { ...params }, budget, startAt: '2026-01-01T00:00:10Z' });
  run.series('1m', { both: [...prices] }).advance('1m');
  return run.approved.map(({ at, amount, to }) => `${at} ${amount} -> ${to}`);
};

describe('value-averaging', () => {
  it('buys what is missing to C t, more after a fall and less after a rise, and sells what is above', () => {
    // Targets of 100, 200, 300 and 400 USDC, against 0, 1 SOL at 80, 2.5 SOL at 96, and 3.125 SOL at 160.
    expect(swapsOf(PARAMS, [100, 80, 96, 160])).toEqual([
      '50s 100 USDC -> SOL', '1m50s 120 USDC -> SOL', '2m50s 60 USDC -> SOL', '3m50s 0.625 SOL -> USDC',
    ]);
  });

  it('sells nothing where it may not', () => {
    expect(swapsOf({ ...PARAMS, sell: false }, [100, 80, 96, 160])).toHaveLength(3);
  });

  it('grows each step by a rate: C ((1 + r)^t - 1) / r', () => {
    expect(swapsOf({ ...PARAMS, growth: 0.1 }, [100, 100, 100])).toEqual([
      '50s 100 USDC -> SOL', '1m50s 110 USDC -> SOL', '2m50s 121 USDC -> SOL',
    ]);
  });

  it('spends at most the cap in a crash, and leaves a small difference to the next interval', () => {
    expect(swapsOf(PARAMS, [100, 10, 1])).toEqual([
      '50s 100 USDC -> SOL', '1m50s 190 USDC -> SOL', '2m50s 280 USDC -> SOL',
    ]);
    expect(swapsOf({ ...PARAMS, cap: '150 USDC' }, [100, 10, 1])).toEqual([
      '50s 100 USDC -> SOL', '1m50s 150 USDC -> SOL', '2m50s 150 USDC -> SOL',
    ]);
    expect(swapsOf({ ...PARAMS, minimum: '150 USDC' }, [100, 100])).toEqual(['1m50s 200 USDC -> SOL']);
  });

  it('spends no more than its budget has', () => {
    expect(swapsOf(PARAMS, [100, 50, 50], '180 USDC')).toEqual(['50s 100 USDC -> SOL', '1m50s 80 USDC -> SOL']);
  });

  it('keeps its path over a kill, and acts once for all intervals that it missed', () => {
    const run = testStrategy(valueAveraging, { params: PARAMS, startAt: '2026-01-01T00:00:10Z' });
    run.feed('both', '0s 100').advanceTo('70s').restart({ after: '3m', isKilled: true });
    run.feed('both', '4m20s 100', '4m25s 100').advanceTo('4m40s');
    // The start of the fifth interval was missed at 4m10s, after those of the second to the fourth.
    expect(run.approved.map(({ at, amount }) => `${at} ${amount}`)).toEqual(['50s 100 USDC', '4m20s 300 USDC']);
  });

  it('refuses bad parameters', () => {
    expect(paramErrors(valueAveraging, PARAMS)).toEqual([]);
    expect(paramErrors(valueAveraging, { ...PARAMS, cap: undefined })[0]).toMatch(/^cap: /);
    expect(paramErrors(valueAveraging, { ...PARAMS, step: '1 SOL' })[0]).toMatch(/^step: expected step, cap and min/);
    expect(paramErrors(valueAveraging, { ...PARAMS, sale: '1 USDC' })[0]).toMatch(/^sale: /);
    expect(paramErrors(valueAveraging, { ...PARAMS, growth: -0.1 })[0]).toMatch(/^growth: /);
  });
});
