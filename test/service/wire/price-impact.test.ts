import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPriceImpact } from '../../../src/service/wire/price-impact.ts';

type StatedImpact = Parameters<typeof readPriceImpact>[0];

const impact = (stated: StatedImpact): readonly [number, string] | undefined => {
  const read = readPriceImpact(stated);
  return read === undefined ? undefined : [Number(read.fraction.toFixed(6)), read.basis];
};

describe('a price impact', () => {
  test.each<[string, StatedImpact, readonly [number, string] | undefined]>([
    [
      'a fraction, as the reference has it',
      { priceImpact: -0.001, priceImpactPct: -0.001, inUsdValue: 150, outUsdValue: 149.85 }, [-0.001, 'confirmed'],
    ],
    [
      'percentage points beside the fraction',
      { priceImpact: -10.42, priceImpactPct: -0.1042, inUsdValue: 100, outUsdValue: 89.58 }, [-0.1042, 'confirmed'],
    ],
    ['percentage points alone', { priceImpact: -0.1, inUsdValue: 150, outUsdValue: 149.85 }, [-0.001, 'confirmed']],
    ['a fraction alone', { priceImpact: -0.1, inUsdValue: 150, outUsdValue: 135 }, [-0.1, 'confirmed']],
    [
      'a gain in percentage points', { priceImpact: 0.3, priceImpactPct: 0.003, inUsdValue: 100, outUsdValue: 100.3 },
      [0.003, 'confirmed'],
    ],
    [
      'a loss whose older name has lost its sign', { priceImpactPct: 0.02, inUsdValue: 100, outUsdValue: 98 },
      [-0.02, 'confirmed'],
    ],
    ['the dollars alone', { inUsdValue: 100, outUsdValue: 97 }, [-0.03, 'usd-values']],
    [
      'the fraction of the older name, without dollars', { priceImpact: -10.42, priceImpactPct: -0.1042 },
      [-0.1042, 'priceImpactPct'],
    ],
    ['the older name alone', { priceImpactPct: -0.02 }, [-0.02, 'priceImpactPct']],
    [
      'the older name alone and without its sign: a loss, to be safe', { priceImpactPct: 0.02 },
      [-0.02, 'priceImpactPct'],
    ],
    ['a gain under both names', { priceImpact: 2, priceImpactPct: 0.02 }, [0.02, 'priceImpactPct']],
    [
      'a loss whose older name has lost its sign, without dollars', { priceImpact: -2, priceImpactPct: 0.02 },
      [-0.02, 'priceImpactPct'],
    ],
    ['an older name that is too large for a fraction', { priceImpactPct: 10.42 }, [-0.1042, 'priceImpactPct']],
    ['one member of the reference', { priceImpact: -0.02 }, [-0.02, 'priceImpact']],
    ['one member that is too large for a fraction', { priceImpact: -3 }, [-0.03, 'priceImpact']],
    ['nothing', {}, undefined],
    [
      'dollars of a token without price', { priceImpact: -0.01, inUsdValue: 100, outUsdValue: 0 },
      [-0.01, 'priceImpact'],
    ],
    ['dollars of which one is missing', { priceImpact: -0.01, inUsdValue: 100 }, [-0.01, 'priceImpact']],
    [
      'dollars that say much worse', { priceImpact: -0.001, priceImpactPct: -0.001, inUsdValue: 100, outUsdValue: 70 },
      [-0.3, 'worst'],
    ],
    [
      'dollars that say much better', { priceImpact: -0.2, priceImpactPct: -0.2, inUsdValue: 100, outUsdValue: 100 },
      [-0.2, 'worst'],
    ],
    [
      'a large loss that dollars would take for percentage points, but the older name does not',
      { priceImpact: -0.05, priceImpactPct: -0.05, inUsdValue: 100, outUsdValue: 99.95 }, [-0.05, 'worst'],
    ],
    [
      'two members that contradict each other, without dollars', { priceImpact: -0.5, priceImpactPct: -0.001 },
      [-0.5, 'worst'],
    ],
    ['a gain that the dollars call a loss', { priceImpact: 0.001, inUsdValue: 100, outUsdValue: 99 }, [-0.01, 'worst']],
    [
      'dollars rounded to cents on a trade of some',
      { priceImpact: -0.4, priceImpactPct: -0.004, inUsdValue: 0.5, outUsdValue: 0.5 }, [-0.004, 'confirmed'],
    ],
    [
      'two readings that the dollars of a small trade both confirm',
      { priceImpact: -0.004, inUsdValue: 1, outUsdValue: 1 }, [-0.004, 'confirmed'],
    ],
    [
      'a gain on a trade of cents', { priceImpact: 1.2, priceImpactPct: 0.012, inUsdValue: 0.3, outUsdValue: 0.3036 },
      [0.012, 'confirmed'],
    ],
    [
      'a gain on a trade of cents, told in cents',
      { priceImpact: 1.2, priceImpactPct: 0.012, inUsdValue: 0.3, outUsdValue: 0.3 }, [0.012, 'confirmed'],
    ],
    [
      'nothing lost on a trade of cents, of which exact dollars say otherwise',
      { priceImpact: 0, priceImpactPct: 0, inUsdValue: 0.5, outUsdValue: 0.4903 }, [-0.0194, 'worst'],
    ],
    [
      'nothing lost on a trade of cents, of which rounded dollars could say so',
      { priceImpact: 0, priceImpactPct: 0, inUsdValue: 0.5, outUsdValue: 0.49 }, [0, 'confirmed'],
    ],
    [
      'two members that contradict each other in their sign, without dollars',
      { priceImpact: 0.02, priceImpactPct: -0.02 }, [-0.02, 'priceImpactPct'],
    ],
    [
      'two members without sign that are too large for a fraction, one with',
      { priceImpact: 10.42, priceImpactPct: -10.42 }, [-0.1042, 'priceImpactPct'],
    ],
    [
      'dollars of a trade of cents, far from what is said',
      { priceImpact: -0.001, priceImpactPct: -0.001, inUsdValue: 0.05, outUsdValue: 0.045 }, [-0.1, 'worst'],
    ],
  ])('told as %s is read', (_name, stated, expected) => {
    expect(impact(stated)).toEqual(expected);
  });

  const losses = fc.double({ min: -0.99, max: 0.5, noNaN: true });
  const dollars = fc.double({ min: 10, max: 1e9, noNaN: true });
  const anything = fc.record({
    priceImpact: fc.option(fc.double({ min: -100, max: 1_000, noNaN: true }), { nil: undefined }),
    priceImpactPct: fc.option(fc.double({ min: -100, max: 1_000, noNaN: true }), { nil: undefined }),
    inUsdValue: fc.option(fc.double({ noNaN: true }), { nil: undefined }),
    outUsdValue: fc.option(fc.double({ noNaN: true }), { nil: undefined }),
  });

  test('is the same in either scale, under one name or both, rounded or not', () => {
    fc.assert(fc.property(losses, dollars, fc.boolean(), fc.boolean(), fc.boolean(),
      (truth, inUsdValue, inPoints, withOlder, cents) => {
        const outUsdValue = inUsdValue * (1 + truth);
        const stated = {
          priceImpact: inPoints ? Number((truth * 100).toFixed(2)) : Number(truth.toFixed(4)),
          ...(withOlder ? { priceImpactPct: Number(truth.toFixed(6)) } : {}),
          inUsdValue: cents ? Number(inUsdValue.toFixed(2)) : inUsdValue,
          outUsdValue: cents ? Number(outUsdValue.toFixed(2)) : outUsdValue,
        };
        const read = readPriceImpact(stated)!;
        expect(read.basis).toBe('confirmed');
        // Of two readings that the dollars both confirm the worse counts: off by the tolerance and the rounding of the
        // dollars.
        expect(Math.abs(read.fraction - truth)).toBeLessThanOrEqual(2 * (1e-4 + 0.01 / inUsdValue) + 1e-4);
      }), { numRuns: 2_000 });
  });

  test('is never better than the dollars by more than their rounding', () => {
    fc.assert(fc.property(anything, dollars, dollars, (stated, inUsdValue, outUsdValue) => {
      const read = readPriceImpact({ ...stated, inUsdValue, outUsdValue })!;
      expect(read.fraction).toBeLessThanOrEqual(outUsdValue / inUsdValue - 1 + 1e-4 + 0.01 / inUsdValue + 1e-12);
    }), { numRuns: 2_000 });
  });

  test('is a number of at least -1 or not known, whatever is said', () => {
    fc.assert(fc.property(anything, (stated) => {
      const read = readPriceImpact(stated);
      if (read === undefined) return;
      expect(Number.isFinite(read.fraction)).toBe(true);
      expect(read.fraction).toBeGreaterThanOrEqual(-1);
    }), { numRuns: 2_000 });
  });

  test('that nothing confirms is the worst of the stated values', () => {
    fc.assert(fc.property(anything, (stated) => {
      const read = readPriceImpact(stated);
      if (read?.basis !== 'worst') return;
      for (const reading of [stated.priceImpact, stated.priceImpactPct]) {
        if (reading !== undefined && reading >= -1)
          expect(read.fraction).toBeLessThanOrEqual(Math.max(reading, reading / 100));
      }
    }), { numRuns: 5_000 });
  });
});
