import { describe, expect, it } from 'vitest';
import { paramErrors } from '../../../src/testing/index.ts';
import emaCross from '../../../strategies/ema-cross.ts';
import { closesAt, shownBars, shownWithRestarts, TEN_SECONDS, waves } from './bar-prices.ts';

/** The fast mean is the close itself; each close changes the slow one by half of the way. It decides after 12 bars. */
const PARAMS = { pair: 'SOL/USDC', size: '100 USDC', ...TEN_SECONDS, fast: 1, slow: 3 };
const WARM_UP = Array<number>(12).fill(100);

const runOf = (closes: readonly number[], params: object = {}) =>
  shownBars(emaCross, { params: { ...PARAMS, ...params } }, { bar: closesAt(...closes) });

describe('a cross of exponential means', () => {
  it('buys where the fast mean crosses above the slow one, and sells where it crosses below', () => {
    // The slow mean after each close: 95, 97.5, 97.75, 97.725, 97.3625.
    expect(runOf([...WARM_UP, 90, 100, 98, 97.7, 97]).lines()).toEqual([
      '2m20s buy 100 USDC -> SOL "the 1-bar mean is 2.56 % off the 3-bar mean, 97.5000" key=cross/1',
      '2m20s filled 100 USDC -> 1 SOL key=cross/1',
      '2m50s sell 1 SOL -> USDC "the 1-bar mean is -0.37 % off the 3-bar mean, 97.3625"',
      '2m50s filled 1 SOL -> 97 USDC',
    ]);
  });

  it('counts a crossing once the means differ by the hysteresis', () => {
    // At 97.7 the fast mean is 0.026 % below the slow one.
    expect(runOf([...WARM_UP, 90, 100, 98, 97.7], { hysteresis: 0.0002 }).approved).toHaveLength(2);
    expect(runOf([...WARM_UP, 90, 100, 98, 97.7], { hysteresis: 0.0003 }).approved).toHaveLength(1);
    expect(runOf([...WARM_UP, 90, 100, 98, 97], { hysteresis: 0.03 }).approved).toHaveLength(0);
  });

  it('trades no relation that it starts with', () => {
    expect(runOf([...WARM_UP, 110, 120, 130]).lines()).toEqual([]);
    expect(runOf([...WARM_UP, 110, 100, 120]).approved.map(({ at }) => at)).toEqual(['2m30s']);
  });

  it('decides after four times the bars of the slow mean', () => {
    // The cross at the eleventh bar is not seen, and the twelfth shows where the means stand.
    expect(runOf([...WARM_UP.slice(2), 90, 110, 120]).lines()).toEqual([]);
    expect(runOf([...WARM_UP.slice(1), 90, 110]).approved).toHaveLength(1);
  });

  it('decides when a bar is over, and never by one that repeats the close before', () => {
    const prices = closesAt(...WARM_UP, 90);
    const runOn = (...more: readonly (number | undefined)[]) =>
      shownBars(emaCross, { params: PARAMS }, { bar: [...prices, ...more] }).lines();
    expect(runOn(150, 90)).toEqual([]);
    expect(runOn(undefined, undefined, undefined, undefined)).toEqual([]);
    expect(runOn(undefined, undefined, 100, 100)[0]).toContain('2m30s buy');
  });

  it('decides the same with and without restarts', () => {
    const options = { params: { ...PARAMS, fast: 3, slow: 6 } };
    const run = shownWithRestarts(emaCross, options, { bar: waves(600) });
    expect(run.approved.length).toBeGreaterThan(6);
    expect(run.lines('swap')).toEqual(shownBars(emaCross, options, { bar: waves(600) }).lines('swap'));
  });

  it('refuses invalid parameters', () => {
    expect(paramErrors(emaCross, PARAMS)).toEqual([]);
    expect(paramErrors(emaCross, { ...PARAMS, size: '1 SOL' }))
      .toEqual(['size: expected an amount of the pair’s quote token']);
    expect(paramErrors(emaCross, { ...PARAMS, fast: 3 })).toEqual(['fast: expected less than slow']);
    for (const change of [{ fast: 0 }, { slow: 201 }, { hysteresis: -0.1 }, { hysteresis: 1 }])
      expect(paramErrors(emaCross, { ...PARAMS, ...change })).toHaveLength(1);
  });
});
