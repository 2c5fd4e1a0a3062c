import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepestAbsolute, deepestRelative, drawdowns, ulcerIndex } from '../../../src/research/metrics/drawdown.ts';
import { compounded } from '../../../src/research/metrics/return-statistics.ts';

const equity = fc.array(fc.double({ min: 0.01, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 80 });

describe('drawdowns', () => {
  it('are listed from the last point at the peak to the recovery', () => {
    expect(drawdowns([100, 100, 90, 95, 80, 100, 110, 99, 105])).toStrictEqual([
      { start: 1, trough: 4, recovered: 5, depth: 0.2, amount: 20 },
      { start: 6, trough: 7, recovered: undefined, depth: 0.1, amount: 11 },
    ]);
  });

  it('count from the first value on', () => {
    expect(drawdowns([100, 80, 90]))
      .toStrictEqual([{ start: 0, trough: 1, recovered: undefined, depth: 0.2, amount: 20 }]);
  });

  it('may be deepest by share at one time and by amount at another', () => {
    const episodes = drawdowns([100, 50, 100, 1_000, 800, 1_000]);
    expect(deepestRelative(episodes)).toMatchObject({ start: 0, depth: 0.5, amount: 50 });
    expect(deepestAbsolute(episodes)).toMatchObject({ start: 3, depth: 0.2, amount: 200 });
  });

  it('are empty without points, for one point, and for a series that never falls', () => {
    for (const values of [[], [5], [1, 2, 3], [4, 4, 4]]) expect(drawdowns(values)).toStrictEqual([]);
    expect([deepestRelative([]), deepestAbsolute([])]).toStrictEqual([undefined, undefined]);
  });

  it('exceed 100 % for equity below 0, and have no depth without a positive peak', () => {
    expect(drawdowns([100, -20])).toMatchObject([{ depth: 1.2, amount: 120 }]);
    expect(drawdowns([-10, -20])).toMatchObject([{ depth: undefined, amount: 10 }]);
    expect(ulcerIndex([-10, -20])).toBeUndefined();
  });

  it('are ordered, below their peak, and as deep as the deepest fall between any two points', () => {
    fc.assert(fc.property(equity, (values) => {
      const episodes = drawdowns(values);
      let end = 0;
      for (const { start, trough, recovered, depth } of episodes) {
        expect(start).toBeGreaterThanOrEqual(end);
        expect(trough).toBeGreaterThan(start);
        end = recovered ?? values.length;
        expect(end).toBeGreaterThan(trough);
        expect(depth).toSatisfy((share: number) => share > 0 && share < 1);
        expect(Math.min(...values.slice(start, end))).toBe(values[trough]);
      }
      let fall = 0;
      let amount = 0;
      for (const [i, before] of values.entries()) {
        for (const after of values.slice(i)) {
          fall = Math.max(fall, (before - after) / before);
          amount = Math.max(amount, before - after);
        }
      }
      expect(deepestRelative(episodes)?.depth ?? 0).toBe(fall);
      expect(deepestAbsolute(episodes)?.amount ?? 0).toBe(amount);
    }));
  });

  it('do not change their shares in another currency', () => {
    fc.assert(fc.property(equity, fc.integer({ min: -10, max: 10 }), (values, power) => {
      const scaled = values.map((value) => value * 2 ** power);
      expect(deepestRelative(drawdowns(scaled))?.depth).toBe(deepestRelative(drawdowns(values))?.depth);
      expect(ulcerIndex(scaled)).toBe(ulcerIndex(values));
    }));
  });
});

describe('the ulcer index', () => {
  // The worked example of yoopla.net.
  it('is 6.7 % for falls by 5, 10 and 3 % when the peak before them is left out', () => {
    expect(ulcerIndex([100, 95, 90, 97])).toBeCloseTo(0.067, 3);
  });

  it('is that of the Ubique library for its ten returns', () => {
    const values = compounded([0.003, 0.026, 0.015, -0.009, 0.014, 0.024, 0.015, 0.066, -0.014, 0.039]);
    expect(ulcerIndex(values)).toBeCloseTo(0.005263078946776312, 12);
  });

  it('lies between 0 and the deepest drawdown', () => {
    fc.assert(fc.property(equity, (values) => {
      expect(ulcerIndex(values) ?? 0)
        .toSatisfy((ulcer: number) => ulcer >= 0 && ulcer <= (deepestRelative(drawdowns(values))?.depth ?? 0) + 1e-15);
    }));
  });
});
