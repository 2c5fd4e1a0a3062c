import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAgeMeter } from '../../../src/service/feeds/feed-stats.ts';

describe('the age of data', () => {
  test('is unknown before there is any', () => {
    expect(createAgeMeter().read(5)).toEqual({ ageMs: undefined, meanAgeMs: undefined, maxAgeMs: undefined });
  });

  test('is nothing at the moment of the first', () => {
    const meter = createAgeMeter();
    meter.renewed(5);
    expect(meter.read(5)).toEqual({ ageMs: 0, meanAgeMs: 0, maxAgeMs: 0 });
  });

  test('grows with time and falls with each renewal, as if it were sampled every millisecond', () => {
    fc.assert(fc.property(fc.nat(1_000_000), fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 50 }), (start, gaps, rest) => {
        const meter = createAgeMeter();
        const ages: number[] = [];
        let at = start;
        meter.renewed(at);
        for (const [index, gap] of [...gaps, rest].entries()) {
          for (let age = 0; age < gap; age++) ages.push(age + 0.5);
          at += gap;
          if (index < gaps.length) meter.renewed(at);
        }
        const { ageMs, meanAgeMs, maxAgeMs } = meter.read(at);
        expect(ageMs).toBe(rest);
        expect(meanAgeMs).toBeCloseTo(ages.reduce((sum, age) => sum + age, 0) / ages.length);
        expect(maxAgeMs).toBe(Math.max(...gaps, rest));
      }));
  });
});
