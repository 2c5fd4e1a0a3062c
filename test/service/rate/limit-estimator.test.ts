import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Millis } from '../../../src/core/time.ts';
import { LimitEstimator } from '../../../src/service/rate/limit-estimator.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** One request in 1.05 s: ten in the shorter span and sixty in the longer are the plan's own rate. */
const LIMITS = { limit: 10, windowMs: 10_500 };
const SLOT_MS = 1_050;

/** Admits requests at an even pace of a share of the plan; returns when the last one was admitted. */
function admit(
  ceiling: LimitEstimator, from: Millis, { forMs, share }: { readonly forMs: Millis; readonly share: number },
): Millis {
  let at = from;
  for (; at < from + forMs; at += SLOT_MS / share) ceiling.accepted(at);
  return at;
}

/** A ceiling that was refused twice at the same count, after a minute at the plan's rate each. */
function taught(share = 0.6): { readonly ceiling: LimitEstimator; readonly now: Millis } {
  const ceiling = new LimitEstimator(LIMITS, 0);
  let now = admit(ceiling, 0, { forMs: 70_000, share });
  ceiling.refused(1, now);
  now = admit(ceiling, now + 5_000, { forMs: 70_000, share });
  ceiling.refused(1, now);
  return { ceiling, now };
}

describe('the limit estimator', () => {
  test('assumes the plan at first', () => {
    const ceiling = new LimitEstimator(LIMITS, 0);
    expect([ceiling.share(), ceiling.burst(0), ceiling.learned()]).toEqual([1, Infinity, undefined]);
  });

  test('learns nothing from refusals that do not repeat', () => {
    const ceiling = new LimitEstimator(LIMITS, 0);
    for (let n = 0; n < 24; n++) {
      const now = admit(ceiling, n * HOUR, { forMs: 70_000, share: 0.8 });
      ceiling.refused(1, now);
      ceiling.probeRefused(now + 4_000);
    }
    expect(ceiling.learned()).toBeUndefined();
  });

  test('learns nothing from refusals at very different counts', () => {
    const ceiling = new LimitEstimator(LIMITS, 0);
    let now = admit(ceiling, 0, { forMs: 70_000, share: 0.8 });
    ceiling.refused(1, now);
    now = admit(ceiling, now + 70_000, { forMs: 5_000, share: 0.8 });
    ceiling.refused(1, now);
    expect(ceiling.learned()).toBeUndefined();
  });

  test('learns a lower rate from a refusal that repeats at the same count', () => {
    const { ceiling } = taught(0.6);
    expect(ceiling.share()).toBeGreaterThanOrEqual(0.5);
    expect(ceiling.share()).toBeLessThanOrEqual(0.6);
  });

  test('finds the limit by trials between the admitted and the refused rate', () => {
    const { ceiling, now } = taught(0.6);
    const { share: held, refusedShare } = ceiling.learned()!;
    expect(refusedShare).toBe(1);
    const proven = admit(ceiling, now, { forMs: 70_000, share: held });
    expect(ceiling.isTrying()).toBe(true);
    expect(ceiling.share()).toBeCloseTo(Math.sqrt(held));
    ceiling.refused(1, proven + 2_000);
    expect(ceiling.share()).toBeCloseTo(held);
    expect(ceiling.learned()!.refusedShare).toBeCloseTo(Math.sqrt(held));
  });

  test('holds a settled rate for an hour, and then tries a slightly higher one', () => {
    const ceiling =
      new LimitEstimator(LIMITS, 0, { at: 0, share: 0.5, refusedShare: undefined, burst: undefined, refusals: 1 });
    let now = admit(ceiling, 0, { forMs: 64 * MINUTE, share: 0.45 });
    expect(ceiling.share()).toBe(0.5);
    now = admit(ceiling, now, { forMs: 2 * MINUTE, share: 0.45 });
    expect(ceiling.share()).toBeCloseTo(0.54);
    ceiling.refused(1, now);
    expect(ceiling.learned()).toMatchObject({ at: now, share: 0.5 });
  });

  test('forgets a limit within the hour after the service lifts it', () => {
    const ceiling = new LimitEstimator(LIMITS, 0, {
      at: -2 * HOUR, share: 0.1, refusedShare: undefined, burst: undefined, refusals: 1,
    });
    let now = 0;
    while (now < 40 * MINUTE) now = admit(ceiling, now, { forMs: 2_000, share: ceiling.share() });
    expect(ceiling.learned()).toBeUndefined();
  });

  test('makes the next trial rarer with every refusal of one trial', () => {
    const ceiling =
      new LimitEstimator(LIMITS, 0, { at: 0, share: 0.5, refusedShare: undefined, burst: undefined, refusals: 1 });
    ceiling.alsoRefused();
    expect(ceiling.learned()!.refusals).toBe(2);
    admit(ceiling, 0, { forMs: 100 * MINUTE, share: 0.45 });
    expect(ceiling.isTrying()).toBe(false);
    for (let n = 0; n < 9; n++) ceiling.alsoRefused();
    expect(ceiling.learned()!.refusals).toBe(4);
  });

  test('learns that a burst is too deep where more was admitted before', () => {
    const ceiling = new LimitEstimator(LIMITS, 0);
    let now = admit(ceiling, 0, { forMs: 70_000, share: 0.9 });
    for (let n = 0; n < 2; n++) {
      now = admit(ceiling, now + 5_000, { forMs: 70_000, share: 0.7 });
      ceiling.refused(4.2, now);
    }
    expect(ceiling.share()).toBe(1);
    expect(ceiling.burst(now)).toBe(4);
    expect(ceiling.burst(now + 64 * MINUTE)).toBe(4);
    expect(ceiling.burst(now + 66 * MINUTE)).toBe(8);
    expect(ceiling.burst(now + 200 * MINUTE)).toBe(Infinity);
  });

  test('reverts a limit where single requests are refused for longer than any window', () => {
    const { ceiling, now } = taught(0.6);
    for (const silence of [4_000, 12_000, 60_000]) ceiling.probeRefused(now + silence);
    expect(ceiling.share()).toBeLessThan(1);
    ceiling.probeRefused(now + 64_000);
    expect(ceiling.share()).toBe(1);
  });

  test('drops a limit where far fewer requests than before are refused', () => {
    const ceiling = new LimitEstimator({ limit: 100, windowMs: 10_500 }, 0);
    let now = 0;
    for (let n = 0; n < 2; n++) {
      // Six times the slot of the smaller plan.
      now = admit(ceiling, now + 5_000, { forMs: 70_000, share: 6 });
      ceiling.refused(1, now);
    }
    expect(ceiling.learned()).toBeDefined();
    now = admit(ceiling, now + 70_000, { forMs: 3_000, share: 6 });
    ceiling.refused(1, now);
    expect(ceiling.learned()).toBeUndefined();
  });

  test('learns nothing from a refusal without admitted requests', () => {
    const ceiling = new LimitEstimator(LIMITS, 0);
    for (let n = 0; n < 5; n++) ceiling.refused(1, n * 10_000);
    expect(ceiling.learned()).toBeUndefined();
  });

  test('follows headers that make watching pause, but not where others use the rate', () => {
    const ceiling = new LimitEstimator(LIMITS, 0);
    ceiling.accepted(0);
    ceiling.pausedByHeaders(1_000);
    expect(ceiling.share()).toBe(1);
    const now = admit(ceiling, 1_000, { forMs: 70_000, share: 0.6 });
    ceiling.pausedByHeaders(now);
    expect(ceiling.share()).toBeGreaterThan(0.45);
    expect(ceiling.share()).toBeLessThan(0.55);
  });

  test('always allows at least a request a minute and at most the plan', () => {
    const step = fc.record({
      afterMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 3 * HOUR })),
      depth: fc.double({ min: 1, max: 10, noNaN: true }),
      kind: fc.constantFrom('accepted', 'accepted', 'refused', 'probe', 'too', 'held'),
    });
    fc.assert(fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const ceiling = new LimitEstimator(LIMITS, 0);
      let now = 0;
      for (const { afterMs, depth, kind } of steps) {
        now += afterMs;
        if (kind === 'accepted') ceiling.accepted(now);
        else if (kind === 'too') ceiling.alsoRefused();
        else if (kind === 'held') ceiling.pausedByHeaders(now);
        else if (kind === 'probe') ceiling.probeRefused(now);
        else ceiling.refused(depth, now);
        expect(ceiling.share() * (10 / 10_500) * 63_000).toBeGreaterThanOrEqual(0.999);
        expect(ceiling.share()).toBeLessThanOrEqual(1);
        expect(ceiling.burst(now)).toBeGreaterThanOrEqual(1);
      }
    }));
  });
});
