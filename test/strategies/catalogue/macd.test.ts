import { describe, expect, it } from 'vitest';
import { paramErrors } from '../../../src/testing/index.ts';
import macd from '../../../strategies/macd.ts';
import { closesAt, shownBars, shownWithRestarts, TEN_SECONDS, waves } from './bar-prices.ts';

/** The fast mean is the close itself; slow mean and signal change by half of the way. It decides after 24 bars. */
const PARAMS = { pair: 'SOL/USDC', size: '100 USDC', ...TEN_SECONDS, fast: 1, slow: 3, signal: 3 };
const WARM_UP = Array<number>(24).fill(100);

const runOf = (closes: readonly number[], params: object = {}) =>
  shownBars(macd, { params: { ...PARAMS, ...params } }, { bar: closesAt(...closes) });

const runOn = (...more: readonly (number | undefined)[]) =>
  shownBars(macd, { params: PARAMS }, { bar: [...closesAt(...WARM_UP, 90), ...more] }).lines();

describe('MACD', () => {
  it('buys where it crosses above its signal, and sells where it crosses below', () => {
    // Slow mean 95, 97.5, 98.75, 99.375, 99.6875; MACD -5, 2.5, 1.25, 0.625, 0.3125; signal -2.5, 0, 0.625, 0.625,
    // 0.46875.
    expect(runOf([...WARM_UP, 90, 100, 100, 100, 100]).lines()).toEqual([
      '4m20s buy 100 USDC -> SOL "MACD is 2.50 % of the price off its signal, at 100.000" key=cross/1',
      '4m20s filled 100 USDC -> 1 SOL key=cross/1',
      '4m50s sell 1 SOL -> USDC "MACD is -0.16 % of the price off its signal, at 100.000"',
      '4m50s filled 1 SOL -> 100 USDC',
    ]);
  });

  it('counts a crossing once the lines differ by the hysteresis, a fraction of the price', () => {
    // In the end the difference is -0.15625, 0.16 % of the price.
    expect(runOf([...WARM_UP, 90, 100, 100, 100, 100], { hysteresis: 0.0015 }).approved).toHaveLength(2);
    expect(runOf([...WARM_UP, 90, 100, 100, 100, 100], { hysteresis: 0.0016 }).approved).toHaveLength(1);
  });

  it('trades no relation that it starts with, and decides after four times its bars', () => {
    expect(runOf([...WARM_UP, 110, 125, 145]).lines()).toEqual([]);
    expect(runOf([...WARM_UP.slice(2), 90, 100]).lines()).toEqual([]);
    expect(runOf([...WARM_UP.slice(1), 90, 100]).approved).toHaveLength(1);
  });

  it('decides when a bar is over, and never by one that repeats the close before', () => {
    expect(runOn(150, 90)).toEqual([]);
    expect(runOn(undefined, undefined, undefined, undefined)).toEqual([]);
    expect(runOn(undefined, undefined, 100, 100)[0]).toContain('4m30s buy');
  });

  it('decides the same with and without restarts', () => {
    const options = { params: { ...PARAMS, fast: 3, slow: 6 } };
    const run = shownWithRestarts(macd, options, { bar: waves(600) });
    expect(run.approved.length).toBeGreaterThan(6);
    expect(run.lines('swap')).toEqual(shownBars(macd, options, { bar: waves(600) }).lines('swap'));
  });

  it('refuses invalid parameters', () => {
    expect(paramErrors(macd, PARAMS)).toEqual([]);
    expect(paramErrors(macd, { ...PARAMS, size: '1 SOL' }))
      .toEqual(['size: expected an amount of the pair’s quote token']);
    expect(paramErrors(macd, { ...PARAMS, fast: 3 })).toEqual(['fast: expected less than slow']);
    for (const change of [{ fast: 0 }, { slow: 201 }, { signal: 0 }, { hysteresis: 1 }])
      expect(paramErrors(macd, { ...PARAMS, ...change })).toHaveLength(1);
  });
});
