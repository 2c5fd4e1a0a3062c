import { describe, expect, it } from 'vitest';
import { paramErrors, testStrategy } from '../../../src/testing/index.ts';
import meanReversion from '../../../strategies/mean-reversion.ts';

const PARAMS = { pair: 'SOL/USDC', size: '25 USDC', window: 4, k: 1.4 };

/** A run that sees a price every five seconds. */
const runOf = (prices: readonly number[], params: object = {}) =>
  testStrategy(meanReversion, { params: { ...PARAMS, ...params } }).series('5s', { price: prices });

/** The swaps as "buy 3": the number of the price that led to it, from 0. */
const swaps = (prices: readonly number[], params: object = {}): string[] =>
  runOf(prices, params).approved.map(({ at, from }) => `${from === 'USDC' ? 'buy' : 'sell'} ${secondsOf(at) / 5}`);

function secondsOf(at: string): number {
  const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(at)!;
  return Number(minutes) * 60 + Number(seconds);
}

const DIP = [102, 98, 100, 95];

const sale = (exit: number) => swaps([...DIP, 96, 97, 99, 104], { exit_z: exit })[1];
const errors = (change: object): string[] => paramErrors(meanReversion, { ...PARAMS, ...change });

describe('mean reversion', () => {
  it('buys a dip and sells it all when the price is back at its mean', () => {
    // After 98, 100, 95, 96: mean 97.25. After 100, 95, 96, 97: mean exactly 97, so price 97 is back.
    expect(runOf([...DIP, 96, 97, 99]).lines()).toEqual([
      '15s buy 25 USDC -> SOL "below the lower band: 95.0000 against a mean of 98.7500 (-1.5 deviations)"',
      '15s filled 25 USDC -> 0.263157894 SOL',
      '25s sell 0.263157894 SOL -> USDC "back at the mean: 97.0000 against a mean of 97.0000 (0.0 deviations)"',
      '25s filled 0.263157894 SOL -> 25.526315 USDC',
    ]);
  });

  it('computes the band with the population deviation', () => {
    // Of 102, 98, 100, 95: mean 98.75; population deviation 2.58602, sample deviation 2.98608.
    // The lower band at k = 1.4 is 95.1296, at 1.46 94.9744; with the sample's deviation 95 would be under neither.
    expect(swaps(DIP, { k: 1.4 })).toEqual(['buy 3']);
    expect(swaps(DIP, { k: 1.45 })).toEqual(['buy 3']);
    expect(swaps(DIP, { k: 1.4502 })).toEqual([]);
    expect(swaps(DIP, { k: 1.46 })).toEqual([]);
  });

  it('does not buy before its window is full', () => { expect(swaps([102, 98, 50])).toEqual([]); });

  it('does not buy more while it holds, however deep the price falls', () => {
    expect(swaps([...DIP, 90, 80, 60, 30])).toEqual(['buy 3']);
  });

  it('proposes nothing while a swap is under way', () => {
    const run = testStrategy(meanReversion, { params: PARAMS, swaps: 'pending' })
      .series('5s', { price: [...DIP, 80, 60] });
    expect(run.approved.map(({ at }) => at)).toEqual(['15s']);
    run.settle('expire').emit('price', 20);
    expect(run.approved.map(({ at }) => at)).toEqual(['15s', '25s']);
  });

  it('sells at the configured deviation', () => {
    expect(sale(-1)).toBe('sell 4');
    expect(sale(0)).toBe('sell 5');
    expect(sale(1.6)).toBe('sell 7');
  });

  it('does nothing on a constant price', () => {
    expect(swaps(Array.from({ length: 50 }, () => 0.1), { k: 0.1 })).toEqual([]);
  });

  it('sells at the stop, and buys again after the price was back', () => {
    // Windows of ten; deviations: -2 at 98 of 100 eight times and 99, -3 at 90 of 100 nine times. sqrt(9) is the limit.
    const calm = Array<number>(8).fill(100);
    const params = { window: 10, k: 1.9, stop_z: -2.5 };
    // 100 eight times, 99, 98.5: mean 99.75, deviation 0.51235, -2.44.
    const fall = [...calm, 99, 98.5];
    expect(swaps(fall, params)).toEqual(['buy 9']);
    // Then 90: mean 98.75, deviation 2.9686, -2.95. At 92, -1.8; at 100 it is above the mean again; 88 is -2.4.
    expect(swaps([...fall, 90], params)).toEqual(['buy 9', 'sell 10']);
    expect(swaps([...fall, 90, 70], params)).toEqual(['buy 9', 'sell 10']);
    expect(swaps([...fall, 90, 92, 100, 86], params)).toEqual(['buy 9', 'sell 10', 'buy 13']);
    // Without a stop it holds; beyond the stop at once it does not buy.
    expect(swaps([...fall, 90, 70], { ...params, stop_z: undefined })).toEqual(['buy 9']);
    expect(swaps([...calm, 100, 90], params)).toEqual([]);
  });

  it('remembers a stop over a restart', () => {
    const params = { ...PARAMS, window: 10, k: 1.9, stop_z: -2.5 };
    const prices = [...Array<number>(8).fill(100), 99, 98.5, 90];
    const run = testStrategy(meanReversion, { params }).series('5s', { price: prices }).restart();
    // The same dip again, at first without the price having been back.
    run.series('5s', { price: prices.slice(0, -1) });
    expect(run.approved.map(({ from }) => from)).toEqual(['USDC', 'SOL']);
    run.series('5s', { price: [101, ...prices.slice(0, -1)] });
    expect(run.approved.map(({ from }) => from)).toEqual(['USDC', 'SOL', 'USDC']);
  });

  it('buys where the way back exceeds the costs of a round trip', () => {
    // From 95 to the mean of 98.75 are 394.7 basis points.
    const costs = (feeBps: number, more: object = {}) =>
      swaps(DIP, { costs: { fee_bps: feeBps, impact_bps: 10, ...more } });
    expect(costs(187)).toEqual(['buy 3']);
    expect(costs(188)).toEqual([]);
    // 0.1 USDC of 25 are 40 basis points.
    expect(costs(167, { network: '0.1 USDC' })).toEqual(['buy 3']);
    expect(costs(168, { network: '0.1 USDC' })).toEqual([]);
    expect(costs(167, { safety_bps: 40 })).toEqual(['buy 3']);
    expect(costs(168, { safety_bps: 40 })).toEqual([]);
    // With a sale one deviation of 2.58602 above the mean, the way is 667 basis points.
    expect(swaps(DIP, { exit_z: 1, costs: { fee_bps: 323, impact_bps: 10 } })).toEqual(['buy 3']);
    expect(swaps(DIP, { exit_z: 1, costs: { fee_bps: 324, impact_bps: 10 } })).toEqual([]);
  });

  it('refuses invalid parameters', () => {
    expect(errors({})).toEqual([]);
    expect(errors({ size: '1 SOL' })).toEqual(['size: expected an amount of the pair’s quote token']);
    for (const change of [{ window: 1 }, { window: 2.5 }, { k: 0 }, { k: Number.NaN }])
      expect(errors(change)).toHaveLength(1);
    expect(errors({ window: 20, stop_z: -1.4 })).toEqual(['stop_z: expected less than -k and less than exit_z']);
    expect(errors({ window: 17, stop_z: -4 })).toEqual(
      ['stop_z: expected a deviation below the square root of window - 1, which no price exceeds']);
    expect(errors({ window: 18, stop_z: -4 })).toEqual([]);
    expect(errors({ costs: { fee_bps: 1, impact_bps: 1, network: '1 SOL' } }))
      .toEqual(['costs.network: expected an amount of the pair’s quote token']);
  });
});
