import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Millis } from '../../../src/core/time.ts';
import type { BucketMemory, RateClaims } from '../../../src/service/rate/rate-memory.ts';
import { createRateClaims } from '../../../src/service/rate/rate-memory.ts';

const LIMITS = { limit: 10, windowMs: 10_500 };

/** A keeper that is told of requests as they leave, and what it wrote. */
function keep(): {
  readonly keeper: RateClaims; readonly written: BucketMemory[]; readonly leave: (at: Millis) => void;
} {
  const left: Millis[] = [];
  const written: BucketMemory[] = [];
  const keeper = createRateClaims({
    limits: LIMITS,
    memory: () => ({ sends: left.map((at) => ({ at, count: 1 })) }),
    save: (memory) => written.push(memory),
  });
  return {
    keeper, written,
    leave(at) {
      left.push(at);
      keeper.beforeSend(at);
    },
  };
}

describe('the claims of a bucket', () => {
  test('cover every request that leaves, at an instant no earlier than it left, whenever the process crashes', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 60 }), (gaps) => {
      const { written, leave } = keep();
      const left: Millis[] = [];
      let at = 0;
      for (const gap of gaps) {
        at += gap;
        left.push(at);
        leave(at);
        const sends = written.at(-1)!
          .sends.flatMap(({ at: sentAt, count }) => Array.from({ length: count }, () => sentAt)).sort((a, b) => a - b);
        expect(sends.length).toBeGreaterThanOrEqual(left.length);
        // Matched from the latest on, each is written down as late as it left, or later.
        for (const [index, sentAt] of left.toReversed().entries())
          expect(sends.toReversed()[index]).toBeGreaterThanOrEqual(sentAt);
      }
    }));
  });

  test('are written once for a quick start, and seldom for a burst', () => {
    const { written, leave } = keep();
    for (let n = 0; n < 4; n++) leave(0);
    expect(written).toHaveLength(1);
    for (let n = 0; n < 26; n++) leave(10);
    expect(written.length).toBeLessThanOrEqual(5);
  });

  test('claim no later request after a second', () => {
    const { written, leave } = keep();
    leave(0);
    leave(1_000);
    expect(written).toHaveLength(2);
    expect(written[1]!.sends).toEqual([{ at: 0, count: 1 }, { at: 1_000, count: 1 }]);
  });

  test('are written at the first of several refusals, with the requests that are still claimed', () => {
    const { keeper, written, leave } = keep();
    leave(0);
    keeper.refused(80);
    keeper.refused(90);
    expect(written).toHaveLength(2);
    expect(written[1]!.sends.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    keeper.refused(2_000);
    expect(written).toHaveLength(3);
  });
});
