import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { autocorrelation, deviation, kurtosis, mean, skewness } from '../../../src/research/metrics/statistics.ts';
import {
  annualGrowth, calmar, compounded, downsideDeviation, sharpe, simpleReturns, sortino, totalReturn, volatility,
} from '../../../src/research/metrics/return-statistics.ts';
import { WAVE_BY_SCIPY, WAVE_SHARPE_RISK_FREE_5E4, WAVE_SORTINO_MAR_2E3, wave } from './series.ts';

const perYear = 365.25;
const returnsOf = (minLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.double({ min: -0.5, max: 0.5, noNaN: true }), { minLength, maxLength: 80 });

describe('growth', () => {
  it('is 24.93 % a year in the worked example of Investopedia: 10 000, 13 000, 14 000, 19 500', () => {
    const total = totalReturn([10_000, 13_000, 14_000, 19_500])!;
    expect(total).toBeCloseTo(0.95, 12);
    expect(annualGrowth(total, 3)).toBeCloseTo(0.2493, 4);
  });

  it('is -1 for a total loss, and undefined without a time span or without initial equity', () => {
    expect([annualGrowth(-1, 2), annualGrowth(-1.5, 2)]).toStrictEqual([-1, -1]);
    expect([annualGrowth(0.1, 0), totalReturn([]), totalReturn([5]), totalReturn([0, 5]), totalReturn([-1, 5])])
      .toStrictEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  it('has no returns from 0 or from debt, except for a last step into it', () => {
    expect(simpleReturns([100, 50, -10])).toStrictEqual([-0.5, -1.2]);
    expect([simpleReturns([100, 0, 10]), simpleReturns([100, -1, 10]), simpleReturns([0, 1])])
      .toStrictEqual([undefined, undefined, undefined]);
    expect([simpleReturns([]), simpleReturns([3])]).toStrictEqual([[], []]);
  });

  it('compounds back to the original values', () => {
    fc.assert(fc.property(returnsOf(1), (returns) => {
      const again = simpleReturns(compounded(returns))!;
      for (const [i, value] of returns.entries()) expect(again[i]).toBeCloseTo(value, 9);
    }));
  });
});

describe('moments', () => {
  it('match numpy and scipy: ddof 1, moments of the sample, kurtosis 3 for normal values', () => {
    const returns = wave();
    expect(deviation(returns)! * Math.sqrt(perYear)).toBeCloseTo(WAVE_BY_SCIPY.volatility, 12);
    expect(skewness(returns)).toBeCloseTo(WAVE_BY_SCIPY.skewness, 12);
    expect(kurtosis(returns)).toBeCloseTo(WAVE_BY_SCIPY.kurtosis, 12);
    expect(autocorrelation(returns, 1)).toBeCloseTo(0.013837445901156114, 12);
  });

  it('are undefined for constant values, despite rounding errors', () => {
    // 0.1 has no exact sum, and constant growth no exact returns.
    const constant = simpleReturns(Array.from({ length: 50 }, (_, i) => 1_000 * 1.001 ** i))!;
    for (const values of [Array<number>(7).fill(0.1), Array<number>(10).fill(0), constant]) {
      expect(deviation(values)).toBe(0);
      expect([skewness(values), kurtosis(values), autocorrelation(values, 1)])
        .toStrictEqual([undefined, undefined, undefined]);
    }
    expect([deviation([]), deviation([1])]).toStrictEqual([undefined, undefined]);
    expect(mean([0.1, 0.1, 0.1])).toBe(0.1);
  });

  it('satisfy kurtosis ≥ skewness² + 1', () => {
    fc.assert(fc.property(returnsOf(2), (returns) => {
      const skew = skewness(returns);
      if (skew !== undefined) expect(kurtosis(returns)! - skew ** 2 - 1).toBeGreaterThan(-1e-6);
    }));
  });
});

describe('ratios of return to risk', () => {
  // T. Rollinger and S. Hoffman, "Sortino: A 'Sharper' Ratio": 10 % a year over a downside of 2.26 %.
  const redRock = [0.17, 0.15, 0.23, -0.05, 0.12, 0.09, 0.13, -0.04];

  it('have a Sortino of 4.417 in the worked example of Rollinger and Hoffman, over all eight years', () => {
    expect(mean(redRock)).toBeCloseTo(0.1, 12);
    expect(downsideDeviation(redRock)).toBeCloseTo(0.0226, 4);
    expect(sortino(redRock)).toBeCloseTo(4.417, 3);
  });

  it('divide the downside by the number of all returns, not of those below the minimum', () => {
    const belowAlone = Math.sqrt((0.05 ** 2 + 0.04 ** 2) / 2);
    expect(downsideDeviation(redRock)).toBeCloseTo(belowAlone / 2, 12);
    expect(sortino(redRock)).not.toBeCloseTo(0.1 / belowAlone, 1);
  });

  it('match numpy by the year, with and without a minimum return', () => {
    const returns = wave();
    expect(volatility(returns, perYear)).toBeCloseTo(WAVE_BY_SCIPY.volatility, 12);
    expect(sharpe(returns, { perYear })).toBeCloseTo(WAVE_BY_SCIPY.sharpe, 11);
    expect(sharpe(returns, { perYear, riskFree: 0.0005 })).toBeCloseTo(WAVE_SHARPE_RISK_FREE_5E4, 11);
    expect(sortino(returns, { perYear })).toBeCloseTo(WAVE_BY_SCIPY.sortino, 11);
    expect(sortino(returns, { perYear, mar: 0.002 })).toBeCloseTo(WAVE_SORTINO_MAR_2E3, 11);
  });

  it('are undefined without risk instead of huge', () => {
    expect([sharpe([0.01, 0.01, 0.01]), sharpe([0.01]), sharpe([]), sortino([0.01, 0.02]), sortino([]), calmar(0.4, 0)])
      .toStrictEqual(Array(6).fill(undefined));
    expect(sortino([-0.01, -0.01])).toBeCloseTo(-1, 12);
    expect(calmar(0.3, 0.15)).toBe(2);
  });

  it('are invariant under scaling, and change sign with the returns', () => {
    fc.assert(fc.property(returnsOf(2), fc.double({ min: 0.01, max: 2, noNaN: true }), (returns, factor) => {
      const ratio = sharpe(returns);
      const scaled = sharpe(returns.map((value) => value * factor));
      if (ratio === undefined || scaled === undefined) return;
      expect(Math.abs(scaled - ratio)).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(ratio)));
      expect(sharpe(returns.map((value) => -value))).toBeCloseTo(-ratio, 9);
      expect(sharpe(returns, { perYear: 4 })).toBeCloseTo(2 * ratio, 9);
    }));
  });

  it('have a downside below the deviation when the mean is not below the minimum', () => {
    fc.assert(fc.property(returnsOf(2), (returns) => {
      const middle = mean(returns);
      fc.pre(middle >= 0);
      expect(downsideDeviation(returns)).toBeLessThanOrEqual(deviation(returns)! + middle + 1e-12);
    }));
  });
});
