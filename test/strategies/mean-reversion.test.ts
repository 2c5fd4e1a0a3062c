import { describe, expect, it } from 'vitest';
import meanReversion from '../../strategies/mean-reversion.ts';
import { buyingSol } from '../market/events.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { start } from '../engine/runs.ts';
import { schemaErrors, configured } from './instances.ts';
import { filled, show, swaps } from './trades.ts';

const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', window: 4, k: 1.4 };

const sales = (exitZ: number): string[] => {
  const run = filled(configured(meanReversion, { ...PARAMS, exit_z: exitZ }));
  show(run, [102, 98, 100, 95, 96, 97, 99, 104]);
  return swaps(run).filter((swap) => swap.startsWith('sell'));
};

const swapsAt = (k: number): string[] => {
  const run = filled(configured(meanReversion, { ...PARAMS, k }));
  show(run, [102, 98, 100, 95]);
  return swaps(run);
};

describe('mean reversion', () => {
  it('buys a dip and sells it all when the price is back at its mean', () => {
    const run = filled(configured(meanReversion, PARAMS));
    show(run, [102, 98, 100, 95, 96, 97, 99]);
    // After 98, 100, 95, 96: mean 97.25. After 100, 95, 96, 97: mean exactly 97, so price 97 is back.
    expect(swaps(run)).toEqual(['buy 3 approved', 'sell 5 approved']);
    expect(run.state.portfolio.available('mean-reversion', SOL.mint)).toBe(0n);
    expect(run.state.portfolio.available('mean-reversion', USDC.mint)).toBeGreaterThan(500_000_000n);
  });

  it('computes the band with the population deviation', () => {
    // Of 102, 98, 100, 95: mean 98.75; population deviation 2.58602, sample deviation 2.98608.
    // The lower band at k = 1.4 is 95.1296, at 1.46 94.9744; with the sample's deviation 95 would be under neither.
    expect(swapsAt(1.4)).toEqual(['buy 3 approved']);
    expect(swapsAt(1.45)).toEqual(['buy 3 approved']);
    expect(swapsAt(1.4502)).toEqual([]);
    expect(swapsAt(1.46)).toEqual([]);
  });

  it('does not buy before its window is full', () => {
    const run = filled(configured(meanReversion, PARAMS));
    show(run, [102, 98, 50]);
    expect(swaps(run)).toEqual([]);
  });

  it('does not buy more while it holds, however deep the price falls', () => {
    const run = filled(configured(meanReversion, PARAMS));
    show(run, [102, 98, 100, 95, 90, 80, 60, 30]);
    expect(swaps(run)).toEqual(['buy 3 approved']);
  });

  it('proposes nothing while a swap is under way', () => {
    const run = start([configured(meanReversion, PARAMS)]);
    show(run, [102, 98, 100, 95, 80, 60]);
    expect(swaps(run)).toEqual(['buy 3 approved']);
    run.engine.accept({ kind: 'outcome', intentId: 'mean-reversion-1', attempt: 1, state: 'abandoned' }, 31_000);
    run.engine.accept(buyingSol(20_000, 35_000), 35_000);
    expect(swaps(run)).toEqual(['buy 3 approved', 'buy 6 approved']);
  });

  it('sells at the configured deviation', () => {
    expect(sales(-1)[0]).toBe('sell 4 approved');
    expect(sales(0)[0]).toBe('sell 5 approved');
    expect(sales(1.6)[0]).toBe('sell 7 approved');
  });

  it('does nothing on a constant price', () => {
    const run = filled(configured(meanReversion, { ...PARAMS, k: 0.1 }));
    show(run, Array.from({ length: 50 }, () => 0.1));
    expect(swaps(run)).toEqual([]);
  });

  it('gives a reason with the numbers of its decision', () => {
    const run = filled(configured(meanReversion, PARAMS));
    show(run, [102, 98, 100, 95]);
    expect(run.logged[0]!.proposal)
      .toMatchObject({ reason: 'below the lower band: 95.0000 against a mean of 98.7500 (-1.5 deviations)' });
  });

  it('refuses invalid parameters', () => {
    expect(schemaErrors(meanReversion, PARAMS)).toEqual([]);
    expect(schemaErrors(meanReversion, { ...PARAMS, size: '1 SOL' }))
      .toEqual(['size: expected an amount of the pair’s quote token']);
    expect(schemaErrors(meanReversion, { ...PARAMS, window: 1 })).toHaveLength(1);
    expect(schemaErrors(meanReversion, { ...PARAMS, window: 2.5 })).toHaveLength(1);
    expect(schemaErrors(meanReversion, { ...PARAMS, k: 0 })).toHaveLength(1);
    expect(schemaErrors(meanReversion, { ...PARAMS, k: Number.NaN })).toHaveLength(1);
  });
});
