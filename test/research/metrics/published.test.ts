import { describe, expect, it } from 'vitest';
import { deepestAbsolute, deepestRelative, drawdowns } from '../../../src/research/metrics/drawdown.ts';
import { turnover } from '../../../src/research/metrics/trading-measures.ts';
import {
  annualGrowth, calmar, compounded, correlatedScale, downsideDeviation, sharpe, simpleReturns, totalReturn,
  volatility,
} from '../../../src/research/metrics/return-statistics.ts';
import type { MeasuredSeries } from '../../../src/research/metrics/measured-path.ts';
import { assess } from '../../../src/research/metrics/metrics.ts';
import { autocorrelation, deviation, kurtosis, mean, skewness } from '../../../src/research/metrics/statistics.ts';
import { DAY, START } from './series.ts';

const returns = [0.02, -0.01, 0.015, -0.005, 0.01, 0.012, -0.008, 0.004];
const alternating = (first: number, [low, high]: readonly [number, number], pairs: number): number[] =>
  [first, ...Array.from({ length: pairs }, () => [low, high]).flat()];
const percent = (...values: readonly number[]): number[] => values.map((value) => value / 100);
const scale = (rho: number): number => correlatedScale(Array.from({ length: 12 }, (_, i) => rho ** (i + 1)), 12)!;
const year = (value: number) => ({ times: [START, START + 365.25 * DAY], values: [value, value] });

/** Equity of forty days, sampled after each of so many trades a day. */
function tradedEquity(tradesADay: number): Extract<MeasuredSeries, { readonly kind: 'equity' }> {
  const times = Array.from({ length: 40 * tradesADay + 1 }, (_, i) => START + (i * DAY) / tradesADay);
  const daily = compounded(Array.from({ length: 40 }, (_, i) => returns[i % returns.length]!));
  return { kind: 'equity', times, values: times.map((at) => {
    const day = Math.floor((at - START) / DAY);
    const part = (at - START) / DAY - day;
    return daily[day]! ** (1 - part) * (daily[Math.min(40, day + 1)]!) ** part;
  }) };
}

/** Figures printed by others, by their subject; those of the other metrics stand beside their own tests. */

describe('the reference datasets of NIST (StRD, univariate statistics), whose figures are certified', () => {
  // They were made so that the sum of squares less the square of the sum has no digit left.
  it.each([
    ['NumAcc1', [10_000_001, 10_000_003, 10_000_002], 10_000_002, 1, -0.5],
    ['NumAcc2', alternating(1.2, [1.1, 1.3], 500), 1.2, 0.1, -0.999],
    ['NumAcc3', alternating(1_000_000.2, [1_000_000.1, 1_000_000.3], 500), 1_000_000.2, 0.1, -0.999],
    ['NumAcc4', alternating(10_000_000.2, [10_000_000.1, 10_000_000.3], 500), 10_000_000.2, 0.1, -0.999],
  ])('%s: mean, standard deviation (ddof 1) and autocorrelation at a lag of 1', (
    name, values, middle, spread, correlation,
  ) => {
    expect(mean(values)).toBeCloseTo(middle, name === 'NumAcc4' ? 7 : 9);
    // The data themselves are rounded: a tenth of ten million has eight digits left behind it.
    expect(deviation(values)).toBeCloseTo(spread, name === 'NumAcc4' ? 7 : 9);
    expect(autocorrelation(values, 1)).toBeCloseTo(correlation, 7);
  });
});

describe('the figures that the tests of the library empyrical (Quantopian) print', () => {
  const swings = percent(0, 1, 10, -4, 2, 3, 2, 1, -10);

  it.each([
    ['weekly', 52, 0.24690830513998208, 0.38851569394870583, 2.4690830513998208],
    ['monthly', 12, 0.052242061386048144, 0.18663690238892558, 0.52242061386048144],
  ])('growth, volatility and Calmar of %s returns', (_, perYear, growth, spread, ratio) => {
    const values = compounded(swings);
    const yearly = annualGrowth(totalReturn(values)!, swings.length / perYear)!;
    expect(yearly).toBeCloseTo(growth, 12);
    expect(volatility(swings, perYear)).toBeCloseTo(spread, 12);
    expect(calmar(yearly, deepestRelative(drawdowns(values))!.depth!)).toBeCloseTo(ratio, 10);
    expect(assess({ kind: 'returns', returns: swings, periodsPerYear: perYear }, { strictness: 'analyze' }).metrics)
      .toMatchObject({
        total_return: expect.closeTo(0.03893, 5), cagr: expect.closeTo(growth, 12),
        volatility: expect.closeTo(spread, 12), calmar: expect.closeTo(ratio, 10),
        max_drawdown: expect.closeTo(0.1, 12),
      });
  });

  it.each([
    ['mixed', swings.slice(1), 1.7238613961706866],
    ['positive', percent(1, 2, 1, 1, 1, 1, 1, 1, 1), 52.915026221291804],
    ['negative', percent(0, -6, -7, -1, -9, -2, -6, -8, -5), -24.406808633910085],
  ])('the Sharpe ratio of %s daily returns, 252 a year', (_, returns, expected) => {
    expect(sharpe(returns, { perYear: 252 })).toBeCloseTo(expected, 9);
  });

  it.each([
    [52, 0, 0.25888650451930134], [52, 0.1, 0.7733045971672482], [12, 0, 0.1243650540411842],
    [12, 0.1, 0.37148351242013422],
  ])(
    'the downside deviation a year, of %i periods, below %d: over all returns, those above as nothing',
    (perYear, mar, expected) => {
      expect(downsideDeviation(swings, mar)! * Math.sqrt(perYear)).toBeCloseTo(expected, 12);
    });

  it.each([
    ['mixed', swings, 0.1], ['negative', percent(0, -6, -7, -1, -9, -2, -6, -8, -5), 0.36590730349873601],
    ['up, down, up', percent(10, -10, 10), 0.1],
  ])('the deepest drawdown of %s returns', (_, returns, expected) => {
    expect(deepestRelative(drawdowns(compounded(returns)))!.depth).toBeCloseTo(expected, 12);
  });
});

// YCharts, glossary.
it('the deepest drawdown of 100 000, 150 000, 90 000, 120 000, 80 000 and 200 000 is 46.67 %', () => {
  const values = [100_000, 150_000, 90_000, 120_000, 80_000, 200_000];
  expect(deepestRelative(drawdowns(values)))
    .toMatchObject({ start: 1, trough: 4, recovered: 5, depth: expect.closeTo(0.4667, 4) });
  expect(deepestAbsolute(drawdowns(values))!.amount).toBe(70_000);
});

// Indian Agricultural Statistics Research Institute (e-courses, biometrics): m2 10.34, m3 -3.528, m4 204.9032.
it('skewness and kurtosis match a published example of 20 values', () => {
  const values = [18, 22, 17, 18, 22, 23, 22, 19, 25, 25, 23, 25, 24, 28, 26, 27, 19, 20, 27, 22];
  expect(mean(values)).toBeCloseTo(22.6, 12);
  expect(skewness(values)! ** 2).toBeCloseTo(0.011258888, 8);
  expect(skewness(values)).toBeLessThan(0);
  expect(kurtosis(values)).toBeCloseTo(1.91649488, 8);
});

// A. Lo, "The Statistics of Sharpe Ratios", 2002.
it('a monthly Sharpe ratio scales by 3.46 without correlation, 2.88 with 20 % and 4.17 with -20 %', () => {
  expect([0, 0.2, -0.2].map((rho) => scale(rho).toFixed(2))).toStrictEqual(['3.46', '2.88', '4.17']);
});

it('turnover is 0.5 when half of the equity is sold and bought again, and 0.1 for 5 of 50 million', () => {
  expect(turnover(year(1_000_000), [500_000, -500_000])).toBeCloseTo(0.5, 12);
  expect(turnover(year(50_000_000), [5_000_000, 5_000_000])).toBeCloseTo(0.1, 12);
});

it('issue 13.10: the ulcer index of 24 monthly returns is 0.0611842873, by the number of returns', () => {
  const monthly = percent(
    0.3, 2.6, 1.1, -1, 1.5, 2.5, 1.6, 6.7, -1.4, 4, -0.5, 8.1, 4, -3.7, -6.1, 1.7, -4.9, -2.2, 7, 5.8, -6.5, 2.4, -0.5,
    -0.9,
  );
  expect(
    assess({ kind: 'returns', returns: monthly, periodsPerYear: 12 }, { strictness: 'analyze' }).metrics.ulcer_index,
  ).toBeCloseTo(0.0611842873, 10);
});

describe('traps that others fell into', () => {
  it('a year has 365.25 days around the clock: taken for 252, a daily ratio comes out a sixth too low', () => {
    expect(sharpe(returns, { perYear: 365.25 })! / sharpe(returns, { perYear: 252 })!)
      .toBeCloseTo(Math.sqrt(365.25 / 252), 12);
    const { path } = assess({
      kind: 'equity', times: Array.from({ length: 70 }, (_, i) => START + i * DAY),
      values: Array.from({ length: 70 }, (_, i) => 100 + (i % 5)),
    }, { strictness: 'backtest' });
    expect(path.perYear).toBe(365.25);
  });

  it('a Sharpe ratio is of returns of time, not of trades: more trades of the same kind make it no better', () => {
    const [few, many] = [1, 8].map((tradesADay) => assess(tradedEquity(tradesADay), { strictness: 'backtest' }));
    expect(many!.path.returns).toHaveLength(few!.path.returns!.length);
    expect(many!.metrics.sharpe).toBeCloseTo(few!.metrics.sharpe!, 9);
  });

  it('returns add up in logarithms alone: fifty per cent lost and won again are a quarter lost', () => {
    expect(totalReturn(compounded([-0.5, 0.5]))).toBeCloseTo(-0.25, 12);
    expect(mean(simpleReturns([100, 50, 75])!)).toBe(0);
  });

  it('days are those of UTC, so that none has 23 or 25 hours', () => {
    // The last Sunday of March and of October 2025, when clocks change in Europe.
    for (const day of [Date.UTC(2025, 2, 29), Date.UTC(2025, 9, 25)]) {
      const times = Array.from({ length: 24 * 70 + 1 }, (_, i) => day + (i * DAY) / 24);
      const { path } =
        assess({ kind: 'equity', times, values: times.map((_, i) => 100 + Math.sin(i)) }, { strictness: 'backtest' });
      expect([path.barMs, path.returns!.length, path.coverage]).toStrictEqual([DAY, 70, 1]);
    }
  });

  it('an outage carried forward understates the risk: yearly figures are refused', () => {
    const days = Array.from({ length: 100 }, (_, i) => i).filter((day) => day < 30 || day >= 60);
    const { metrics, warnings } = assess({
      kind: 'equity', times: days.map((day) => START + day * DAY), values: days.map((day) => 100 + 5 * Math.sin(day)),
    }, { strictness: 'backtest' });
    expect(metrics).toMatchObject({ volatility: null, sharpe: null, total_return: expect.any(Number) });
    expect(warnings.map(({ code }) => code)).toContain('coverage_low');
  });
});
