import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  costRatio, exposure, timeInMarket, turnover,
} from '../../../src/research/metrics/trading-measures.ts';
import { DAY, START, daily } from './series.ts';

const year = [START, START + 91.3125 * DAY, START + 365.25 * DAY];

describe('exposure', () => {
  it('is weighted by time, not by points: a quarter of the year at 80 % is 20 %', () => {
    const series = { times: year, values: [1_000, 1_000, 1_000], held: [800, 0, 0] };
    expect(exposure(series)).toBeCloseTo(0.2, 12);
    expect(timeInMarket(series)).toBeCloseTo(0.25, 12);
  });

  it('is undefined without a time span or without equity', () => {
    expect([
      exposure({ ...daily([1]), held: [1] }), timeInMarket({ ...daily([]), held: [] }),
      exposure({ ...daily([1, 0, 1]), held: [1, 1, 1] }),
    ]).toStrictEqual([undefined, undefined, undefined]);
  });

  it('stays between the smallest and the largest exposure', () => {
    fc.assert(fc.property(fc.array(
      fc.tuple(fc.double({ min: 1, max: 1e6, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
      { minLength: 2, maxLength: 30 },
    ), (points) => {
      const shares = points.slice(0, -1).map(([, share]) => share);
      const measured =
        exposure({ ...daily(points.map(([value]) => value)), held: points.map(([value, share]) => value * share) })!;
      expect(measured).toBeGreaterThanOrEqual(Math.min(...shares) - 1e-12);
      expect(measured).toBeLessThanOrEqual(Math.max(...shares) + 1e-12);
    }));
  });
});

describe('turnover', () => {
  it('is 1 when all equity was bought and sold once in a year', () => {
    const series = { times: year, values: [1_000, 1_000, 1_000] };
    expect(turnover(series, [1_000, -1_000])).toBeCloseTo(1, 12);
    expect(turnover({ times: [START, START + 182.625 * DAY], values: [1_000, 1_000] }, [1_000, 1_000]))
      .toBeCloseTo(2, 12);
    expect(turnover(series, [])).toBe(0);
  });

  it('uses the mean of equity over time', () => {
    expect(turnover({ times: year, values: [1_000, 2_000, 9_000] }, [3_500])).toBeCloseTo(1, 9);
    expect([turnover(daily([1]), [1]), turnover(daily([-5, -5, 1]), [1])]).toStrictEqual([undefined, undefined]);
  });

  it('has a cost ratio only with a gross profit', () => {
    expect([costRatio(5, 50), costRatio(5, 0), costRatio(5, -1)]).toStrictEqual([0.1, undefined, undefined]);
  });
});
