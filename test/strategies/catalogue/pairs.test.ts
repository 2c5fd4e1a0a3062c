import { describe, expect, it } from 'vitest';
import { paramErrors } from '../../../src/testing/index.ts';
import pairs from '../../../strategies/pairs.ts';
import { closesAt, shownBars, shownWithRestarts, TEN_SECONDS } from './bar-prices.ts';

const PARAMS = { size: '100 USDC', a: '1 SOL', b: '1 FISH', ...TEN_SECONDS, lookback: 10, stop: 2.9 };
const TOKENS = { tokens: { FISH: 6 } };

const rounded = (price: number): number => Math.round(price * 1e6) / 1e6;

/**
 * The prices of bars. FISH costs 2 and 2.5 in turn, and SOL a hundred times as much but for a shift in percent of its
 * logarithm. Five of the last ten points have either price, so the line goes through the mean of each five; a residual
 * is the distance to the mean of its five.
 */
function market(...shifts: readonly number[]): Readonly<Record<'a' | 'b' | 'SOL/FISH', number[]>> {
  const b = [...Array<number>(10).fill(0), ...shifts].map((_, n) => (n % 2 === 0 ? 2 : 2.5));
  const a = b.map((price, n) => 100 * price * Math.exp((shifts[n - 10] ?? 0) / 100));
  return {
    a: closesAt(...a.map(rounded)), b: closesAt(...b),
    'SOL/FISH': closesAt(...a.map((price, n) => rounded(price / b[n]!))),
  };
}

const runOf = (params: object, shifts: readonly number[]) => {
  const { a, b } = market(...shifts);
  return shownBars(pairs, { params: { ...PARAMS, ...params }, ...TOKENS }, { a, b });
};
const swaps = (params: object, ...shifts: readonly number[]): string[] =>
  runOf(params, shifts).approved.map(({ at, from, to }) => `${at} ${from} ${to}`);

const errors = (change: object): string[] => paramErrors(pairs, { ...PARAMS, ...change }, TOKENS);

describe('a pair', () => {
  it('buys the token that is cheap against the other, sells at the exit, and buys the other', () => {
    // Of 0, 0, 0, 0, -1 the newest is 0.8 below the mean, of a deviation of sqrt(0.8 / 10): -2.83. Then 0.8 of
    // sqrt(1.6 / 10): -2. Of 0, 0, 0, -1, -0.4 it is 0.12 of sqrt(1.568 / 10): -0.30. Of 0, 0, 0, -1, 2 it is 1.8 of
    // sqrt(5.568 / 10): 2.41. SOL costs 198.009967 at the purchase and 199.20160 at the sale.
    expect(runOf({}, [-1, -1, -0.4, 2]).lines()).toEqual([
      '1m50s buy 100 USDC -> SOL "SOL is -2.83 deviations off its line on FISH (beta 1.009)" key=pair/1',
      '1m50s filled 100 USDC -> 0.505025082 SOL key=pair/1',
      '2m10s sell 0.505025082 SOL -> USDC "SOL is -0.30 deviations off its line on FISH (beta 1.004)"',
      '2m10s filled 0.505025082 SOL -> 100.601803 USDC',
      '2m20s buy 100 USDC -> FISH "SOL is 2.41 deviations off its line on FISH (beta 1.022)" key=pair/2',
      '2m20s filled 100 USDC -> 40 FISH key=pair/2',
    ]);
  });

  it('goes through the cash where the other token is cheap at once', () => {
    // From -2.83 to 2.4 / sqrt(8 / 10) = 2.68, then to 2.4 / sqrt(14.4 / 10), 2: the second purchase is one bar later.
    expect(swaps({}, -1, 3)).toEqual(['1m50s USDC SOL', '2m SOL USDC']);
    expect(swaps({}, -1, 3, 3)).toEqual(['1m50s USDC SOL', '2m SOL USDC', '2m10s USDC FISH']);
  });

  it('keeps a token where asked, and swaps it directly for the other', () => {
    const run = shownBars(pairs, { params: { ...PARAMS, between: 'keep' }, ...TOKENS }, market(-1, -1, -0.4, 3));
    expect(run.approved.map(({ at, from, to, amount }) => `${at} ${amount} ${to} ${from}`)).toEqual([
      '1m50s 100 USDC SOL USDC', '2m20s 0.505025082 SOL FISH SOL',
    ]);
    // 3 percent above a hundred times FISH: 103.045453 FISH for one SOL.
    expect(run.balance('FISH')).toBe('52.040538 FISH');
  });

  it('sells at the stop, and buys nothing until the exit', () => {
    // Beyond the stop of 2.5 at once; 0; of 0, 0, 0, -1, -1.5 it is 1 of sqrt(2 / 10), -2.24; of 0, 0, 0, 0, -5 it is 4
    // of sqrt(22 / 10), -2.70.
    expect(swaps({ stop: 2.5 }, -1)).toEqual([]);
    expect(swaps({ stop: 2.5 }, -1, 0, -1.5)).toEqual(['2m10s USDC SOL']);
    expect(swaps({ stop: 2.5 }, -1, 0, -1.5, -5)).toEqual(['2m10s USDC SOL', '2m20s SOL USDC']);
    expect(swaps({ stop: 2.5 }, -1, -1)).toEqual([]);
  });

  it('has no line where the second token never moves, and none while all points are on it', () => {
    const still = {
      a: closesAt(...Array.from({ length: 30 }, (_, n) => 200 + n)), b: closesAt(...Array<number>(30).fill(2)),
    };
    expect(shownBars(pairs, { params: PARAMS, ...TOKENS }, still).lines()).toEqual([]);
    expect(swaps({}, 0, 0, 0, 0)).toEqual([]);
  });

  it('joins closes of the same moment, and leaves out bars that repeat the close before', () => {
    const { a, b } = market(-1);
    const last = a.length - 2;
    // The last bar of FISH has no price: there is nothing to decide, and with the next one nothing to make up for.
    const late = b.map((price, n) => (n >= last ? undefined : price));
    expect(shownBars(pairs, { params: PARAMS, ...TOKENS }, { a, b: late }).lines()).toEqual([]);
    expect(shownBars(pairs, { params: PARAMS, ...TOKENS }, { a: [...a, 200, 200], b: [...late, 2, 2] }).lines())
      .toEqual([]);
  });

  it('decides the same with and without restarts', () => {
    const b = Array.from({ length: 400 }, (_, n) => 2 + 0.3 * Math.sin(n / 9));
    const a = b.map((price, n) => 100 * price * Math.exp(0.01 * Math.sin(n / 3) + 0.006 * Math.sin(n * n)));
    const options = { params: { ...PARAMS, enter: 1.5 }, ...TOKENS };
    const run = shownWithRestarts(pairs, options, { a, b });
    expect(run.approved.length).toBeGreaterThan(20);
    expect(run.lines('swap')).toEqual(shownBars(pairs, options, { a, b }).lines('swap'));
  });

  it('refuses invalid parameters', () => {
    expect(errors({})).toEqual([]);
    expect(errors({ b: '2 SOL' })).toEqual(['b: expected three different tokens in size, a and b']);
    expect(errors({ exit: 2 })).toEqual(['exit: expected less than enter']);
    expect(errors({ enter: 2.9 })).toEqual(['enter: expected less than stop']);
    expect(errors({ stop: 3 }))
      .toEqual(['stop: expected less than the square root of lookback - 1, which no deviation exceeds']);
    expect(errors({ lookback: 501 })).toHaveLength(1);
  });
});
