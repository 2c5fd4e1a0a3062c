import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FeedSpec } from '../../../src/market/feed.ts';
import { createFeedRecord } from '../../../src/service/feeds/feed-stats.ts';

const SPEC: FeedSpec = { kind: 'order-book', marketId: 'TIDE', everyMs: 1_000 };

describe('the age of data', () => {
  test('is unknown before the first data', () => {
    expect(createFeedRecord(SPEC).stats(5))
      .toMatchObject({ ageMs: undefined, meanAgeMs: undefined, maxAgeMs: undefined });
  });

  test('is 0 when the first data arrives', () => {
    const record = createFeedRecord(SPEC);
    record.succeeded(5);
    expect(record.stats(5)).toMatchObject({ ageMs: 0, meanAgeMs: 0, maxAgeMs: 0 });
  });

  test('grows with time and falls with each renewal, as if it were sampled every millisecond', () => {
    fc.assert(fc.property(fc.nat(1_000_000), fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 50 }), (start, gaps, rest) => {
        const record = createFeedRecord(SPEC);
        const ages: number[] = [];
        let at = start;
        record.succeeded(at);
        for (const [index, gap] of [...gaps, rest].entries()) {
          for (let age = 0; age < gap; age++) ages.push(age + 0.5);
          at += gap;
          if (index < gaps.length) record.succeeded(at);
        }
        const { ageMs, meanAgeMs, maxAgeMs } = record.stats(at);
        expect(ageMs).toBe(rest);
        expect(meanAgeMs).toBeCloseTo(ages.reduce((sum, age) => sum + age, 0) / ages.length);
        expect(maxAgeMs).toBe(Math.max(...gaps, rest));
      }));
  });
});
