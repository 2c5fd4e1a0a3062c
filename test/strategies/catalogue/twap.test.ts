import { describe, expect, it } from 'vitest';
import twap from '../../../strategies/twap.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = { buy: 'SOL', total: '100 USDC', duration: '2m', every: '1m', jitter: 0, watch: '10s' };
const short = (line: string): string => line.replace(/ key=.*/, '');

describe('twap', () => {
  it('spends the total in duration / every + 1 equal slices, to the last smallest unit, and tells the average', () => {
    const run = testStrategy(twap, { params: PARAMS });
    run.feed('price', '0s 100', '50s 125', '110s 80').advanceTo('10m');
    // 33.333333 at 100, 33.333333 at 125 and 33.333334 at 80.
    expect(run.lines().map(short)).toEqual([
      '0s buy 33.333333 USDC -> SOL "slice 1 of 3"', '0s filled 33.333333 USDC -> 0.33333333 SOL',
      '1m buy 33.333333 USDC -> SOL "slice 2 of 3"', '1m filled 33.333333 USDC -> 0.266666664 SOL',
      '2m buy 33.333334 USDC -> SOL "slice 3 of 3"', '2m filled 33.333334 USDC -> 0.416666675 SOL',
      '2m info "all 3 slices are filled at 98.3607 on average"',
    ]);
    expect(run.portfolio()).toEqual(['1.016666669 SOL', '900 USDC']);
  });

  it('waits for the first price, and leaves out a slice above the limit without making up for it', () => {
    const run = testStrategy(twap, { params: { ...PARAMS, price_limit: 110.5 } });
    run.advanceTo('30s').feed('price', '30s 100', '80s 111', '2m20s 110').advanceTo('10m');
    expect(run.approved.map(({ at, amount, key }) => [at, amount, key])).toEqual([
      ['30s', '33.333333 USDC', 'twap/0'], ['2m30s', '33.333334 USDC', 'twap/2'],
    ]);
  });

  it('goes on after a kill with the slices that are left, and makes up for none', () => {
    const run = testStrategy(twap, { params: { ...PARAMS, duration: '5m', total: '60 USDC' } });
    run.feed('price', '0s 100').advanceTo('70s').restart({ after: '2m', isKilled: true });
    run.feed('price', '3m20s 100').advanceTo('20m');
    // The bot was down from 1m10s to 3m10s, so the third slice, at 2m, is lost; the fourth is late.
    expect(run.approved.map(({ at, key }) => [at, key])).toEqual([
      ['0s', 'twap/0'], ['1m', 'twap/1'], ['3m20s', 'twap/3'], ['4m', 'twap/4'], ['5m', 'twap/5'],
    ]);
  });

  it('delays slices by at most the jitter', () => {
    const run = testStrategy(twap, { params: { ...PARAMS, duration: '9m', jitter: 0.2 } });
    run.series('10s', { price: Array.from({ length: 80 }, () => 100) });
    const late = run.approved.map(({ proposal, at }) => [proposal.key, at]);
    expect(late).toHaveLength(10);
    expect(new Set(late.map(([, at]) => at)).size).toBe(10);
  });

  it('refuses bad parameters', () => {
    expect(paramErrors(twap, PARAMS)).toEqual([]);
    expect(paramErrors(twap, { ...PARAMS, buy: 'USDC' })[0]).toMatch(/^buy: expected another token/);
    expect(paramErrors(twap, { ...PARAMS, every: '3m' })[0]).toMatch(/^every: expected at most the duration/);
    expect(paramErrors(twap, { ...PARAMS, jitter: 1.5 })[0]).toMatch(/^jitter: /);
    expect(paramErrors(twap, { ...PARAMS, total: '100' })[0]).toMatch(/^total: expected an amount with its token/);
  });
});
