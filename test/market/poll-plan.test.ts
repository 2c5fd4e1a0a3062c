import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PollDemand } from '../../src/market/poll-plan.ts';
import { optimalIntervals, weightedMeanAge } from '../../src/market/poll-plan.ts';

const demand: fc.Arbitrary<PollDemand> = fc.record({
  everyMs: fc.integer({ min: 100, max: 600_000 }),
  weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
});
const demands = fc.array(demand, { minLength: 1, maxLength: 12 });
const rate = fc.double({ min: 0.01, max: 100, noNaN: true });

const perSecond = (intervals: readonly number[]): number =>
  intervals.reduce((sum, interval) => sum + 1_000 / interval, 0);

describe('the optimal intervals', () => {
  test('are those asked for where the rate allows them all', () => {
    expect(optimalIntervals([{ everyMs: 1_000, weight: 1 }, { everyMs: 4_000, weight: 9 }], 2)).toEqual([1_000, 4_000]);
  });

  test('are as the inverse root of the weight where it does not', () => {
    expect(optimalIntervals([1, 4, 16].map((weight) => ({ everyMs: 10, weight })), 7)).toEqual([1_000, 500, 250]);
  });

  test('are endless where there is no rate at all', () => {
    expect(optimalIntervals([{ everyMs: 1_000, weight: 1 }], 0)).toEqual([Infinity]);
  });

  test('are never shorter than asked for, and use the rate up where it is short', () => {
    fc.assert(fc.property(demands, rate, (wanted, allowed) => {
      const intervals = optimalIntervals(wanted, allowed);
      const asked = perSecond(wanted.map(({ everyMs }) => everyMs));
      for (const [index, interval] of intervals.entries())
        expect(interval).toBeGreaterThanOrEqual(wanted[index]!.everyMs * (1 - 1e-9));
      expect(perSecond(intervals) / Math.min(asked, allowed)).toBeCloseTo(1, 6);
    }));
  });

  test('cannot be bettered by moving rate from one to another', () => {
    fc.assert(fc.property(demands, rate, fc.nat(), fc.nat(), fc.double({ min: 0.01, max: 0.9, noNaN: true }),
      (wanted, allowed, some, other, part) => {
        const intervals = optimalIntervals(wanted, allowed);
        const [from, to] = [some % wanted.length, other % wanted.length];
        if (from === to) return;
        const moved = part / intervals[from]!;
        const others = intervals.map((interval, index) => {
          if (index === from) return 1 / (1 / interval - moved);
          return index === to ? Math.max(wanted[to]!.everyMs, 1 / (1 / interval + moved)) : interval;
        });
        expect(weightedMeanAge(wanted, others)).toBeGreaterThanOrEqual(weightedMeanAge(wanted, intervals) * (1 - 1e-9));
      }));
  });
});
