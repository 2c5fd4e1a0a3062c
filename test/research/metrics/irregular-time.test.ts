import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  correlatedScale, irregularEstimates, markedAutocorrelation,
} from '../../../src/research/metrics/return-statistics.ts';
import { mean, deviation } from '../../../src/research/metrics/statistics.ts';
import { DAY, START } from './series.ts';

describe('estimates from points at irregular distances', () => {
  it('are right for five points in a year, four of them in four days', () => {
    const series =
      { times: [0, 30, 31, 32, 33, 365.25].map((days) => START + days * DAY), values: [100, 101, 103, 100, 104, 110] };
    const logs = series.values.slice(1).map((value, i) => Math.log(value / series.values[i]!));
    // Computed with numpy.
    // From next to nothing: the quotient of two values may be beyond all numbers where each of them is none.
    const grown = irregularEstimates({ times: [0, 1, 2].map((day) => START + day * DAY), values: [1e-320, 1, 2] })!;
    for (const figure of [grown.growth, grown.volatility, grown.sharpe!]) expect(figure).toSatisfy(Number.isFinite);
    expect(irregularEstimates(series)).toStrictEqual({
      growth: expect.closeTo(0.09531017980432477, 12), volatility: expect.closeTo(0.5042305928322346, 10),
      sharpe: expect.closeTo(0.18902101768354218, 10),
    });
    expect((mean(logs) / deviation(logs)!) * Math.sqrt(5)).toBeCloseTo(1.3115528704626256, 9);
  });

  it('equal the usual figures at equal distances', () => {
    fc.assert(fc.property(fc.array(fc.double({ min: -0.2, max: 0.2, noNaN: true }), { minLength: 3, maxLength: 40 }),
      (logs) => {
        const values = [100];
        for (const log of logs) values.push(values.at(-1)! * Math.exp(log));
        const estimates = irregularEstimates({ times: values.map((_, i) => START + i * DAY), values })!;
        const s = deviation(logs)!;
        fc.pre(s > 1e-6);
        expect(estimates.volatility).toBeCloseTo(s * Math.sqrt(365.25), 6);
        expect(estimates.sharpe).toBeCloseTo((mean(logs) / s) * Math.sqrt(365.25), 4);
      }));
  });

  it('have no ratio without risk, and are undefined for too few points', () => {
    const constant = { times: [0, 1, 5, 6].map((days) => START + days * DAY), values: [0, 1, 5, 6]
      .map((days) => 100 * Math.exp(days / 1_000)) };
    expect(irregularEstimates(constant)).toMatchObject({ volatility: 0, sharpe: undefined });
    expect([
      irregularEstimates({ times: [1, 2], values: [1, 2] }),
      irregularEstimates({ times: [1, 2, 3], values: [1, 0, 2] }),
    ]).toStrictEqual([undefined, undefined]);
  });
});

describe('scaling to a year', () => {
  it('is the square root of time without correlation', () => {
    expect(correlatedScale([], 12)).toBeCloseTo(Math.sqrt(12), 12);
    expect(correlatedScale([0, 0], 365.25)).toBeCloseTo(Math.sqrt(365.25), 12);
  });

  it('matches the closed form of Lo (2002) for geometrically decaying correlation', () => {
    fc.assert(fc.property(fc.double({ min: -0.8, max: 0.9, noNaN: true }), fc.integer({ min: 2, max: 250 }),
      (rho, q) => {
        const closed = Math.sqrt(q) / Math.sqrt(1 + ((2 * rho) / (1 - rho)) * (1 - (1 - rho ** q) / (q * (1 - rho))));
        expect(correlatedScale(Array.from({ length: q }, (_, i) => rho ** (i + 1)), q)).toBeCloseTo(closed, 8);
      }));
  });

  it('is undefined when correlations leave no variance', () => {
    expect(correlatedScale([-1], 2)).toBeUndefined();
  });

  it('reports a correlation only when it is significant', () => {
    const climbing = Array.from({ length: 100 }, (_, i) => Math.sin(i / 10));
    expect(markedAutocorrelation(climbing)).toBeGreaterThan(0.9);
    expect([markedAutocorrelation([0.1, -0.2, 0.3, 0, 0.05]), markedAutocorrelation([1, 1, 1])])
      .toStrictEqual([undefined, undefined]);
  });
});
