import { describe, expect, it } from 'vitest';
import grid from '../../../strategies/grid.ts';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';

const PARAMS = { pair: 'SOL/USDC', low: 90, high: 110, levels: 2, type: 'arithmetic', lot: '30 USDC' };
const FIVE = { ...PARAMS, low: 100, high: 150, levels: 5 };
const swaps = (run: ReturnType<typeof testStrategy>): string[] =>
  run.approved.map(({ at, from, reason, key }) => `${at} ${from} ${reason} ${key}`);

describe('grid', () => {
  it('buys where the price falls to a level from above, and sells that lot one level up, again and again', () => {
    const run = testStrategy(grid, { params: PARAMS });
    // Levels at 90 and 100 buy; 100 and 110 sell. At the start the price is below 100, which buys nothing.
    run.series('5s', { both: [99, 98, 101, 100, 104, 110, 111, 99.5, 89, 100.5, 112] });
    expect(swaps(run)).toEqual([
      '15s USDC down to 100.000 1-0', '25s SOL up to 110.000 1-1', '35s USDC down to 100.000 1-2',
      '40s USDC down to 90.0000 0-0', '45s SOL up to 100.000 0-1', '50s SOL up to 110.000 1-3',
    ]);
  });

  it('buys each level that one fall passes, and exactly the lot of each', () => {
    const run = testStrategy(grid, { params: FIVE, swaps: { end: 'fill', after: '1s' } });
    run.series('5s', { both: [151, 99, 99, 99, 99, 99, 99] });
    expect(run.approved.map(({ amount, tag }) => `${amount} ${tag}`).toSorted())
      .toEqual(['30 USDC 0', '30 USDC 1', '30 USDC 2', '30 USDC 3', '30 USDC 4']);
    expect(run.balance('USDC')).toBe('850 USDC');
  });

  it('has levels of the same ratio by default', () => {
    const run = testStrategy(grid, { params: { ...PARAMS, type: 'geometric', low: 100, high: 121 } });
    run.series('5s', { both: [125, 109] });
    expect(swaps(run)).toEqual(['5s USDC down to 110.000 1-0']);
  });

  it('sells at the price of a sale, not at that of a purchase', () => {
    const run = testStrategy(grid, { params: PARAMS });
    run.series('5s', { both: [101, 99, { buy: 111, sell: 109 }, { buy: 112, sell: 110 }] });
    expect(run.approved.map(({ at, from }) => [at, from])).toEqual([['5s', 'USDC'], ['15s', 'SOL']]);
  });

  it('forgets no level over a kill, and buys none twice', () => {
    const run = testStrategy(grid, { params: FIVE });
    run.series('5s', { both: [151, 125, 125] }).restart({ after: '2s' });
    run.feed('both', ...[125, 125, 99, 99, 99, 99, 111, 131, 141, 151, 151, 151].map((price, n) =>
      `${20 + 5 * n}s ${price}`));
    const keys = run.approved.map(({ key = '' }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => key.endsWith('-0')).toSorted()).toEqual(['0-0', '1-0', '2-0', '3-0', '4-0']);
    expect(keys.filter((key) => key.endsWith('-1')).toSorted()).toEqual(['0-1', '1-1', '2-1', '3-1', '4-1']);
    expect(run.balance('SOL')).toBe('0 SOL');
  });

  it.each([['stop_loss', 80], ['take_profit', 120]])('sells all at %s and ends, over a kill too', (exit, price) => {
    const run = testStrategy(grid, { params: { ...PARAMS, [exit]: price } });
    run.series('5s', { both: [101, 99, { buy: 105, sell: 105 }, price === 80 ? 79.5 : 120.5] });
    run.restart({ after: '2s' }).feed('both', '20s 101', '25s 99', '30s 89', '35s 111');
    const [entry, last, ...more] = swaps(run);
    expect(entry).toBe('5s USDC down to 100.000 1-0');
    expect(last).toMatch(/^15s SOL the grid has ended at/);
    expect(more).toEqual([]);
  });

  it('sells a lot that is above the limits in parts, each once, and buys its level again', () => {
    const run = testStrategy(grid, {
      params: PARAMS, risk: { max_trade: '31 USDC' }, swaps: { end: 'fill', after: '1s' },
    });
    run.series('5s', { both: [101, 99, 99, 110.5, 110.5, 110.5, 110.5, 99, 99] });
    // 30 USDC buy 0.3030 SOL, which are 33.5 USDC at 110.5: above the limit of a trade.
    const sold = run.approved.filter(({ from }) => from === 'SOL').map(({ amount }) => Number(amount.split(' ')[0]));
    expect(sold.length).toBeGreaterThan(1);
    expect(sold.reduce((sum, part) => sum + part, 0)).toBeCloseTo(30 / 99, 8);
    expect(run.approved.at(-1)).toMatchObject({ from: 'USDC', amount: '30 USDC', tag: '1' });
    expect(run.approved.filter(({ from }) => from === 'USDC')).toHaveLength(2);
  });

  it('buys a level again after a swap that failed, under another key', () => {
    const run = testStrategy(grid, { params: PARAMS, swaps: ['fail', 'abandon', 'fill'] });
    run.series('5s', { both: [101, 99, 99, 99, 99] });
    expect(run.approved.map(({ key }) => key)).toEqual(['1-0', '1-1', '1-1']);
  });

  it('refuses bad parameters', () => {
    expect(paramErrors(grid, PARAMS)).toEqual([]);
    expect(paramErrors(grid, { ...PARAMS, low: 120 })[0]).toMatch(/^low: expected less than high/);
    expect(paramErrors(grid, { ...PARAMS, low: 109.9 })[0]).toMatch(/^levels: expected levels further apart/);
    expect(paramErrors(grid, { ...PARAMS, stop_loss: 95 })[0]).toMatch(/^stop_loss: expected less than low/);
    expect(paramErrors(grid, { ...PARAMS, lot: '1 SOL' })[0]).toMatch(/^lot: /);
  });
});
