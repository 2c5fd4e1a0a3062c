import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { histogram } from '../../../src/research/metrics/return-distribution.ts';

it('counts each value once, in bins of one round width with an edge at 0', () => {
  expect(histogram([-3, -1, 1, 2, 9.5], 8))
    .toEqual([{ from: -5, to: 0, count: 2 }, { from: 0, to: 5, count: 2 }, { from: 5, to: 10, count: 1 }]);
  expect(histogram([0, 0.1, 0.25], 5)).toEqual([
    { from: 0, to: 0.1, count: 1 }, { from: 0.1, to: 0.2, count: 1 },
    { from: 0.2, to: expect.closeTo(0.3, 12), count: 1 },
  ]);
  fc.assert(fc.property(fc.array(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => Math.round(value * 1e3) / 1e3),
    { minLength: 1, maxLength: 60 },
  ), (values) => {
    const bins = histogram(values);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    expect(bins.length).toBeLessThanOrEqual(24);
    expect(bins.every(({ from, to }) => to <= 0 || from >= 0)).toBe(true);
    const least = values.reduce((low, value) => Math.min(low, value), 0);
    expect(bins[0]!.from).toBeLessThanOrEqual(least);
  }));
});

it('is empty without values', () => {
  expect(histogram([])).toEqual([]);
  expect(histogram([0, 0])).toEqual([{ from: 0, to: 0, count: 2 }]);
});
