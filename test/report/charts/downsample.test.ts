import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spanMeans } from '../../../src/report/charts/downsample.ts';

describe('means over spans of time', () => {
  it('weigh each value by its duration, and keep the highest', () => {
    const { times, means, highest } = spanMeans([4, 0, 8, null, 2], { times: [0, 10, 30, 40, 60], parts: 3 });
    expect(times).toEqual([0, 20, 40, 60]);
    expect(means).toEqual([2, 4, null, null]);
    expect(highest).toEqual([4, 8, null, null]);
  });

  it('average to the mean of all values', () => {
    fc.assert(fc.property(fc.array(
      fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 0, max: 1, noNaN: true })),
      { minLength: 2, maxLength: 50 },
    ), fc.integer({ min: 1, max: 20 }), (steps, parts) => {
      let at = 0;
      const times = steps.map(([step]) => at += step);
      const values = steps.map(([, value]) => value);
      const whole = values.slice(0, -1).reduce((sum, value, i) => sum + value * (times[i + 1]! - times[i]!), 0)
        / (times.at(-1)! - times[0]!);
      const { means, highest } = spanMeans(values, { times, parts });
      expect(means.slice(0, -1).reduce<number>((sum, mean) => sum + mean!, 0) / parts).toBeCloseTo(whole, 9);
      for (const [i, mean] of means.entries()) expect(mean).toBeLessThanOrEqual(highest[i]! + 1e-12);
    }));
  });
});
