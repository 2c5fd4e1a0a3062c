import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalCdf, normalQuantile } from '../../../src/research/metrics/statistics.ts';

/** Computed with 40 digits (mpmath 1.3). */
const CDF: readonly (readonly [x: number, p: number])[] = [
  [-30, 4.906713927148187e-198], [-15, 3.670966199312751e-51], [-12, 1.776482112077679e-33],
  [-8, 6.220960574271784e-16], [-5, 2.866515718791939e-7], [-3, 0.0013498980316300946], [-2, 0.02275013194817921],
  [-1, 0.15865525393145705], [0, 0.5], [1, 0.8413447460685429], [1.96, 0.9750021048517795], [3, 0.9986501019683699],
];

describe('the normal distribution', () => {
  it.each(CDF)('has at %d the value %d, to 14 digits in the tails too', (x, p) => {
    expect(Math.abs(normalCdf(x) / p - 1)).toBeLessThan(1e-14);
  });

  it.each([
    // The percentage points printed with the algorithm (Wichura, 1988), and those of every table.
    [0.25, -0.6744897501960817], [0.001, -3.090232306167814], [1e-20, -9.2623400897984087], [0.975, 1.959963984540054],
    [0.95, 1.6448536269514722], [0.5, 0],
  ])('takes %d at %d', (p, x) => {
    expect(Math.abs(normalQuantile(p) - x)).toBeLessThanOrEqual(1e-15 * Math.max(1, Math.abs(x)) * 2);
  });

  it('has the right limits', () => {
    expect([normalCdf(Number.NEGATIVE_INFINITY), normalCdf(Number.POSITIVE_INFINITY), normalCdf(Number.NaN)])
      .toStrictEqual([0, 1, Number.NaN]);
    expect([
      normalQuantile(0), normalQuantile(1), normalQuantile(-0.1), normalQuantile(1.1), normalQuantile(Number.NaN),
    ]).toStrictEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN, Number.NaN, Number.NaN]);
  });

  it('rises, is symmetric, and inverts', () => {
    fc.assert(fc.property(fc.double({ min: -37, max: 8, noNaN: true }), fc.double({ min: 1e-6, max: 1, noNaN: true }),
      (x, step) => {
        expect(normalCdf(x + step)).toBeGreaterThanOrEqual(normalCdf(x));
        expect(normalCdf(-x) + normalCdf(x)).toBeCloseTo(1, 14);
        // Above, a number has too few digits left of 1 to come back by.
        if (x < 4) expect(normalQuantile(normalCdf(x))).toBeCloseTo(x, 10);
      }));
  });
});
