import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Footprint, RateCeiling } from '../../src/service/rate-ceiling.ts';
import { createRateCeiling } from '../../src/service/rate-ceiling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LIMITS = { limit: 10, windowMs: 10_500 };

/** Ten in the shorter window and sixty in the longer are the plan's own rate. */
function footprint(inTen: number, inSixty: number, depth = 1): Footprint {
  return { counts: [inTen, inSixty], depth };
}

function taught(...accepted: readonly Footprint[]): RateCeiling {
  const ceiling = createRateCeiling(LIMITS);
  for (const each of accepted) ceiling.accepted(each);
  return ceiling;
}

describe('what refusals teach', () => {
  test('is nothing at first', () => {
    const ceiling = createRateCeiling(LIMITS);
    expect([ceiling.share(0), ceiling.burst(0), ceiling.lesson()]).toEqual([1, Infinity, undefined]);
  });

  test('is a rate below the one refused, in the window that was fuller than ever before', () => {
    const ceiling = taught(footprint(8, 36));
    ceiling.refused(footprint(8, 37), 0, false);
    expect(ceiling.share(0)).toBeCloseTo((36 / 60) * 0.85);
    const other = taught(footprint(6, 36));
    other.refused(footprint(7, 20), 0, false);
    expect(other.share(0)).toBeCloseTo((6 / 10) * 0.85);
  });

  test('takes the rate down by half at most at once', () => {
    const ceiling = taught(footprint(3, 3));
    ceiling.refused(footprint(2, 4), 0, false);
    expect(ceiling.share(0)).toBeCloseTo(0.5 * 0.85);
  });

  test('comes back to the rate refused in an hour, no sooner, and has forgotten a tenth of the plan within a day', () => {
    const ceiling = createRateCeiling(LIMITS, { at: 0, peak: 0.1, burst: undefined, refusals: 1 });
    expect(ceiling.share(30 * MINUTE)).toBeLessThan(0.09);
    expect(ceiling.share(HOUR)).toBeLessThan(0.1);
    expect(ceiling.share(65 * MINUTE)).toBeCloseTo(0.1);
    expect(ceiling.share(24 * HOUR)).toBe(1);
  });

  test('is that bursts are too deep where nothing else was more than before', () => {
    const ceiling = taught(footprint(9, 50, 2));
    ceiling.refused(footprint(8, 45, 4.2), 0, false);
    expect(ceiling.burst(0)).toBe(4);
    expect(ceiling.share(0)).toBe(1);
    expect(ceiling.burst(64 * MINUTE)).toBe(4);
    expect(ceiling.burst(66 * MINUTE)).toBe(8);
    expect(ceiling.burst(200 * MINUTE)).toBe(Infinity);
  });

  test('keeps the rate it has where a burst is refused', () => {
    const ceiling = taught(footprint(6, 36));
    ceiling.refused(footprint(6, 37), 0, false);
    const before = ceiling.share(2 * HOUR);
    ceiling.accepted(footprint(9, 50));
    ceiling.refused(footprint(5, 30, 3), 2 * HOUR, false);
    expect(ceiling.share(2 * HOUR)).toBeCloseTo(before);
    expect(ceiling.burst(2 * HOUR)).toBe(2);
  });

  test('is the same excess within a minute, and makes the next attempt rarer', () => {
    const ceiling = taught(footprint(6, 36));
    ceiling.refused(footprint(6, 37), 0, false);
    const { peak } = ceiling.lesson()!;
    ceiling.refusedToo();
    ceiling.refused(footprint(5, 30), 10_000, true);
    expect(ceiling.lesson()).toMatchObject({ at: 0, peak, refusals: 3 });
    expect(ceiling.share(2 * HOUR)).toBeLessThan(peak);
    expect(ceiling.share(3.3 * HOUR)).toBeGreaterThan(peak);
  });

  test('puts the next attempt off for longer each time that it comes too soon', () => {
    const ceiling = taught(footprint(6, 36));
    for (let n = 0; n < 6; n++) ceiling.refused(footprint(6 - n, 37 - n), n * 5 * MINUTE, false);
    expect(ceiling.lesson()!.refusals).toBe(4);
    ceiling.refused(footprint(6, 37), 24 * HOUR, false);
    expect(ceiling.lesson()!.refusals).toBe(1);
  });

  test('is taken back where the service goes on refusing one alone after a long silence', () => {
    const ceiling = taught(footprint(8, 46));
    ceiling.refused(footprint(8, 46), 0, false);
    ceiling.refused(footprint(7, 45), 4_000, true);
    expect(ceiling.share(4_000)).toBeLessThan(0.9);
    ceiling.refused(footprint(2, 40), 12_000, true);
    expect(ceiling.share(12_000)).toBe(1);
  });

  test('is believed where it comes again soon, until nothing of ours is in any window', () => {
    const ceiling = taught(footprint(8, 46));
    ceiling.refused(footprint(8, 46), 0, false);
    ceiling.refused(footprint(2, 40), 12_000, true);
    ceiling.refused(footprint(8, 46), 70_000, false);
    for (const at of [82_000, 110_000, 132_000]) {
      ceiling.refused(footprint(1, 2), at, true);
      expect(ceiling.share(at)).toBeLessThan(0.9);
    }
    ceiling.refused(footprint(1, 1), 192_000, true);
    expect(ceiling.share(192_000)).toBe(1);
  });

  test('is nothing about a span that held no other request', () => {
    const ceiling = taught(footprint(1, 6));
    ceiling.refused(footprint(1, 5), 0, false);
    expect(ceiling.share(0)).toBeCloseTo(0.5 * 0.85);
  });

  test('is nothing where nothing had been sent', () => {
    const ceiling = createRateCeiling(LIMITS);
    ceiling.refused(footprint(1, 1), 0, false);
    expect(ceiling.lesson()).toBeUndefined();
  });

  test('follows the headers where they make watching pause, but not where somebody else uses the rate', () => {
    const ceiling = createRateCeiling(LIMITS);
    ceiling.held([1, 4], 0);
    expect(ceiling.share(0)).toBe(1);
    ceiling.held([6, 34], 0);
    expect(ceiling.share(0)).toBeCloseTo((6 / 10) * 0.85);
  });

  test('never leaves less than a request a minute, nor more than the plan, whatever happens', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 0, max: 3 * HOUR }), inTen: fc.integer({ min: 1, max: 10 }), inSixty: fc.integer({ min: 1, max: 60 }),
      depth: fc.double({ min: 1, max: 10, noNaN: true }), kind: fc.constantFrom('accepted', 'refused', 'probe', 'too', 'held'),
    });
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ceiling = createRateCeiling(LIMITS);
      let now = 0;
      for (const { afterMs, inTen, inSixty, depth, kind } of steps) {
        now += afterMs;
        if (kind === 'accepted') ceiling.accepted(footprint(inTen, inSixty, depth));
        else if (kind === 'too') ceiling.refusedToo();
        else if (kind === 'held') ceiling.held([inTen, inSixty], now);
        else ceiling.refused(footprint(inTen, inSixty, depth), now, kind === 'probe');
        for (const at of [now, now + HOUR]) {
          expect(ceiling.share(at) * (10 / 10_500) * 63_000).toBeGreaterThanOrEqual(0.999);
          expect(ceiling.share(at)).toBeLessThanOrEqual(1);
          expect(ceiling.burst(at)).toBeGreaterThanOrEqual(1);
        }
      }
    }));
  });
});
