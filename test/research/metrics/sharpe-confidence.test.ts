import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deflatedSharpe, expectedMaximumSharpe, minimumTrackRecord, probabilisticSharpe,
} from '../../../src/research/metrics/sharpe-confidence.ts';

const NORMAL = { skewness: 0, kurtosis: 3 };
const measured = fc.record({
  sharpe: fc.double({ min: -2, max: 2, noNaN: true }), returns: fc.integer({ min: 10, max: 5_000 }),
  skewness: fc.double({ min: -2, max: 2, noNaN: true }), excess: fc.double({ min: 0, max: 10, noNaN: true }),
}).map(({ excess, ...rest }) => ({ ...rest, kurtosis: 1.01 + rest.skewness ** 2 + excess }));

describe('the probabilistic Sharpe ratio', () => {
  // D. Bailey and M. López de Prado, "The Sharpe Ratio Efficient Frontier": two years of monthly returns.
  it.each([
    [NORMAL, 0.982], [{ skewness: -2.448, kurtosis: 10.164 }, 0.913],
  ])('of 0.458 a month over 24 months with %o is %d, as published', (moments, expected) => {
    expect(probabilisticSharpe({ sharpe: 0.458, returns: 24, ...moments })).toBeCloseTo(expected, 3);
  });

  it('rises with the length of a good record, falls with the benchmark, and is one half at the benchmark', () => {
    fc.assert(fc.property(measured, fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 1e-6, max: 1, noNaN: true }),
      (record, more, higher) => {
        const now = probabilisticSharpe(record)!;
        const longer = probabilisticSharpe({ ...record, returns: record.returns + more })!;
        if (record.sharpe >= 0) expect(longer).toBeGreaterThanOrEqual(now);
        else expect(longer).toBeLessThanOrEqual(now);
        expect(probabilisticSharpe(record, higher)!).toBeLessThanOrEqual(now);
        expect(probabilisticSharpe(record, record.sharpe)).toBe(0.5);
      }));
  });

  it('falls with left skewness and fat tails for a good ratio', () => {
    fc.assert(fc.property(measured, fc.double({ min: 0, max: 3, noNaN: true }), (record, more) => {
      fc.pre(record.sharpe > 0);
      const now = probabilisticSharpe(record)!;
      expect(probabilisticSharpe({ ...record, kurtosis: record.kurtosis + more })!).toBeLessThanOrEqual(now);
      expect(probabilisticSharpe({ ...record, skewness: record.skewness - more })!).toBeLessThanOrEqual(now);
    }));
  });

  it('is undefined for one return', () => {
    expect(probabilisticSharpe({ sharpe: 1, returns: 1, ...NORMAL })).toBeUndefined();
  });
});

describe('the minimum track record', () => {
  // The same paper: a Sharpe ratio of 2 a year against 1, at 95 %.
  it.each([
    ['daily', 250, NORMAL, 2.73], ['weekly', 52, NORMAL, 2.83], ['monthly', 12, NORMAL, 3.24],
    ['monthly', 12, { skewness: -0.72, kurtosis: 5.78 }, 4.99],
  ])('of %s returns (%i a year) with %o is %d years, as published', (_, perYear, moments, years) => {
    const returns =
      minimumTrackRecord({ sharpe: 2 / Math.sqrt(perYear), ...moments }, { benchmark: 1 / Math.sqrt(perYear) })!;
    expect(returns / perYear).toBeCloseTo(years, 2);
  });

  it('is the length at which the probability reaches the confidence', () => {
    fc.assert(fc.property(measured, fc.double({ min: 0.55, max: 0.999, noNaN: true }), (record, confidence) => {
      fc.pre(record.sharpe > 0.01);
      const returns = minimumTrackRecord(record, { confidence })!;
      expect(probabilisticSharpe({ ...record, returns: Math.max(2, returns) }))
        .toSatisfy((p: number) => (returns >= 2 ? Math.abs(p - confidence) < 1e-6 : p >= confidence));
    }));
  });

  it('is undefined unless the ratio is above the benchmark', () => {
    expect([
      minimumTrackRecord({ sharpe: 0, ...NORMAL }), minimumTrackRecord({ sharpe: 0.1, ...NORMAL }, { benchmark: 0.1 }),
    ]).toStrictEqual([undefined, undefined]);
  });
});

describe('the deflated Sharpe ratio', () => {
  // D. Bailey and M. López de Prado, "The Deflated Sharpe Ratio", numerical example: 2.5 a year, five years of 250
  // days, variance of the trials 1/2 a year.
  const sharpe = 2.5 / Math.sqrt(250);
  const sharpeVariance = 0.5 / 250;
  const published = { sharpe, returns: 1_250, skewness: -3, kurtosis: 10 };

  it.each([
    [100, published, 0.9004], [46, published, 0.9505], [88, { ...published, ...NORMAL }, 0.9505],
  ])('after %i trials of %o is %d, as published', (count, record, expected) => {
    expect(deflatedSharpe(record, { count, sharpeVariance })).toBeCloseTo(expected, 4);
  });

  it('compares with 0.1132 a day after 100 trials, as published', () => {
    expect(expectedMaximumSharpe({ count: 100, sharpeVariance })).toBeCloseTo(0.1132, 4);
  });

  it('equals the probabilistic one for a single trial, and is undefined without variance or number', () => {
    expect(deflatedSharpe(published, { count: 1, sharpeVariance: undefined })).toBe(probabilisticSharpe(published));
    expect([
      deflatedSharpe(published, { count: 5, sharpeVariance: undefined }),
      deflatedSharpe(published, { count: 0, sharpeVariance }),
    ]).toStrictEqual([undefined, undefined]);
  });

  it('falls with every trial', () => {
    fc.assert(fc.property(measured, fc.integer({ min: 2, max: 100_000 }), fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }), (record, count, more, variance) => {
        const now = deflatedSharpe(record, { count, sharpeVariance: variance })!;
        expect(deflatedSharpe(record, { count: count + more, sharpeVariance: variance })!)
          .toBeLessThanOrEqual(now + 1e-15);
        expect(now).toBeLessThanOrEqual(probabilisticSharpe(record)! + 1e-15);
      }));
  });
});
