import { describe, expect, it } from 'vitest';
import {
  dailyReturns, marketFit, omegaRatio, rollingFigures, tailRisk,
} from '../../../src/research/metrics/daily-returns.ts';
import type { EquitySeries } from '../../../src/research/metrics/equity-series.ts';
import { mean, quantile } from '../../../src/research/metrics/statistics.ts';
import { DAY, daily, HOUR, START, wave } from './series.ts';

const percent = (...values: readonly number[]): number[] => values.map((value) => value / 100);
/** The series of the tests of the library empyrical (Quantopian), `empyrical/tests/test_stats.py`. */
const mixed = percent(1, 10, -4, 2, 3, 2, 1, -10);
const negative = percent(-6, -7, -1, -9, -2, -6, -8, -5);
const positive = percent(1, 2, 1, 1, 1, 1, 1, 1, 1);

/** Equity that rises and falls each hour. */
function hours(count: number): EquitySeries {
  return {
    times: Array.from({ length: count + 1 }, (_, i) => START + i * HOUR),
    values: Array.from({ length: count + 1 }, (_, i) => 100 + (i % 2)),
  };
}

describe('quantiles', () => {
  it.each([
    [[1, 2], 0, 1], [[1, 2], 0.3, 1.3], [[1, 2], 1, 2], [[1, 81, 82, 83, 84, 85], 0.1, 41],
    [[1, 81, 82, 83, 84, 85], 0.2, 81], [[1, 81, 82, 83, 84, 85], 0.3, 81.5],
  ])('of %j at %d are those of test_value_at_risk of empyrical', (values, share, expected) => {
    expect(quantile(values, share)).toBeCloseTo(expected, 12);
  });

  it('do not exist without values', () => {
    expect(quantile([], 0.5)).toBeUndefined();
  });
});

describe('value at risk and expected shortfall', () => {
  it('are the twentieth part and the mean beyond it, worked manually over 41 days', () => {
    // -20 % to +20 % in steps of 1 %: place 0.05 · 40 = 2 is the third worst, -18 %. Its mean with -19 % and -20 % is
    // -19 %.
    const days = Array.from({ length: 41 }, (_, i) => (i - 20) / 100);
    const found = tailRisk(days)!;
    expect(found.valueAtRisk).toBeCloseTo(0.18, 12);
    expect(found.expectedShortfall).toBeCloseTo(0.19, 12);
  });

  it('agree with conditional_value_at_risk of empyrical: the mean of the first ⌊(n - 1) · cutoff⌋ + 1', () => {
    const values = wave();
    for (const share of [0.01, 0.05, 0.2, 1]) {
      const rising = values.toSorted((a, b) => a - b);
      const worst = rising.slice(0, Math.floor((values.length - 1) * share) + 1);
      expect(tailRisk(values, share)!.expectedShortfall).toBeCloseTo(-mean(worst), 12);
    }
  });

  it('are those of Python’s statistics.quantiles (inclusive) over the 200 returns of the wave', () => {
    // python3: statistics.quantiles(wave, n=20, method='inclusive')[0], and the mean of the returns up to it.
    expect(tailRisk(wave())).toEqual({
      valueAtRisk: expect.closeTo(0.023342416044314564, 12),
      expectedShortfall: expect.closeTo(0.02572189199489684, 12),
    });
  });

  it('are negative where even the worst days gained, and undefined without days', () => {
    expect(tailRisk([0.01, 0.01])!.valueAtRisk).toBeCloseTo(-0.01, 12);
    expect(tailRisk([])).toBeUndefined();
  });
});

describe('the Omega ratio', () => {
  it.each([
    ['mixed returns above 1 %', mixed, 0.01, 0.8125], ['positive returns above 1.1 %', positive, 0.011, 1.125],
    ['positive returns above 2 %', positive, 0.02, 0], ['negative returns above 1 %', negative, 0.01, 0],
    // A required return of 10 a year is 11^(1/252) - 1 a day there.
    ['mixed returns with a required return of 10 a year', mixed, 11 ** (1 / 252) - 1, 0.83354263497557934],
  ])('of %s is the one that test_omega of empyrical prints', (_, returns, threshold, expected) => {
    expect(omegaRatio(returns, threshold)).toBeCloseTo(expected, 8);
  });

  it('has no meaning without a loss', () => {
    expect(omegaRatio(positive, 0.01)).toBeUndefined();
  });
});

describe('alpha and beta', () => {
  it('are those that test_alpha_beta of empyrical prints', () => {
    const { alpha, beta } = marketFit(mixed, negative)!;
    expect(beta).toBeCloseTo(-0.71296296296296313, 12);
    // It compounds the daily alpha over 252 days.
    expect((1 + alpha) ** 252 - 1).toBeCloseTo(-0.9997853834885004, 8);
    expect(marketFit(mixed, mixed)).toEqual({
      alpha: expect.closeTo(0, 12), beta: expect.closeTo(1, 12), correlation: expect.closeTo(1, 12),
    });
    expect(marketFit(mixed, mixed.map((change) => -change))).toMatchObject({ beta: expect.closeTo(-1, 12) });
  });

  it('are recovered from a made line: half of the market’s moves and a tenth of a percent a day', () => {
    const line = wave().map((change) => 0.001 + 0.5 * change);
    expect(marketFit(line, wave())).toEqual({
      alpha: expect.closeTo(0.001, 12), beta: expect.closeTo(0.5, 12), correlation: expect.closeTo(1, 12),
    });
  });

  it('have no meaning against a market that does not move, and no correlation without own moves', () => {
    expect(marketFit(mixed, mixed.map(() => 0.01))).toBeUndefined();
    expect(marketFit(mixed.map(() => 0), mixed)).toEqual({ alpha: 0, beta: 0, correlation: undefined });
    expect(marketFit([0.01], [0.01])).toBeUndefined();
  });
});

describe('daily returns', () => {
  it('begin at the first value, and carry a day without a value', () => {
    const series = {
      times: [START, START + 20 * HOUR, START + DAY + HOUR, START + 3 * DAY + 20 * HOUR], values: [100, 110, 99, 108.9],
    };
    expect(dailyReturns(series)).toEqual([
      { day: START, change: expect.closeTo(0.1, 12) }, { day: START + DAY, change: expect.closeTo(-0.1, 12) },
      { day: START + 2 * DAY, change: 0 }, { day: START + 3 * DAY, change: expect.closeTo(0.1, 12) },
    ]);
  });

  it('have no meaning where equity was lost, and none exist without time', () => {
    expect(dailyReturns(daily([100, 0, 5]))).toBeUndefined();
    expect(dailyReturns(daily([100]))).toEqual([]);
  });
});

describe('rolling figures', () => {
  it('have a window of 30 days over daily bars, each as an independent sum gives it', () => {
    const values = wave().reduce<number[]>((all, change) => [...all, all.at(-1)! * (1 + change)], [100]);
    const { windowMs, barMs, times, sharpe, volatility } = rollingFigures(daily(values));
    expect([windowMs / DAY, barMs, times.length]).toEqual([30, DAY, 200 - 30 + 1]);
    expect(times[0]).toBe(START + 30 * DAY);
    for (const first of [0, 77, 170]) {
      const window = wave().slice(first, first + 30);
      const middle = window.reduce((sum, change) => sum + change, 0) / 30;
      const spread = Math.sqrt(window.reduce((sum, change) => sum + (change - middle) ** 2, 0) / 29);
      expect(volatility[first]).toBeCloseTo(spread * Math.sqrt(365.25), 9);
      expect(sharpe[first]).toBeCloseTo((middle / spread) * Math.sqrt(365.25), 9);
    }
  });

  it('have a window of 7 days over hourly bars, and none where it is never full', () => {
    expect(rollingFigures(hours(7 * 24 + 3))).toMatchObject({ windowMs: 7 * DAY, barMs: HOUR, times: [
      START + 7 * DAY, START + 7 * DAY + HOUR, START + 7 * DAY + 2 * HOUR, START + 7 * DAY + 3 * HOUR,
    ] });
    expect(rollingFigures(hours(7 * 24 - 1)).times).toEqual([]);
    expect(rollingFigures(daily([100, 0])).times).toEqual([]);
  });

  it('have no Sharpe ratio where nothing varies', () => {
    expect(rollingFigures(daily(Array<number>(70).fill(100)))).toMatchObject({
      sharpe: Array(40).fill(null), volatility: Array(40).fill(0),
    });
  });
});
