import { expect, it } from 'vitest';
import { monthlyReturns } from '../../../src/research/metrics/return-distribution.ts';

const at = (...[year, month, day]: [number, number, number]): number => Date.UTC(year, month - 1, day);

it('months begin with the last value before them, the first with the first', () => {
  const series = {
    times: [at(2025, 12, 5), at(2025, 12, 31), at(2026, 1, 2), at(2026, 1, 31), at(2026, 3, 1)],
    values: [100, 110, 99, 121, 60.5],
  };
  expect(monthlyReturns(series)).toEqual([
    { year: 2025, month: 12, change: expect.closeTo(0.1, 12) },
    { year: 2026, month: 1, change: expect.closeTo(0.1, 12) },
    { year: 2026, month: 3, change: expect.closeTo(-0.5, 12) },
  ]);
  expect(monthlyReturns(series).reduce((product, { change }) => product * (1 + change!), 1)).toBeCloseTo(0.605, 12);
});

it('a month that begins with 0 has no return', () => {
  expect(monthlyReturns({ times: [0, 1], values: [0, 5] })).toEqual([{ year: 1970, month: 1, change: undefined }]);
  expect(monthlyReturns({ times: [], values: [] })).toEqual([]);
});
