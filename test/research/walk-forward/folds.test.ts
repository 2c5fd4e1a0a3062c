import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldPlan } from '../../../src/research/walk-forward/folds.ts';

const H = 3_600_000;
const D = 24 * H;
const TERMS =
  { firstAt: 0, lastAt: 30 * D - 1, warmupMs: 0, inSampleMs: 10 * D, outOfSampleMs: 5 * D, anchored: false };

describe('the folds of a walk-forward', () => {
  it('advance by one out-of-sample period at a time', () => {
    expect(foldPlan(TERMS)).toStrictEqual({
      unusedMs: 0,
      folds: [0, 1, 2, 3].map((n) => ({
        number: n + 1, inSample: { from: 5 * n * D, to: (10 + 5 * n) * D },
        outOfSample: { from: (10 + 5 * n) * D, to: (15 + 5 * n) * D },
      })),
    });
  });

  it('begin in-sample at the first row when anchored', () => {
    expect(foldPlan({ ...TERMS, anchored: true }).folds.map(({ inSample }) => inSample))
      .toStrictEqual([10, 15, 20, 25].map((day) => ({ from: 0, to: day * D })));
  });

  it('begin after the longest warm-up', () => {
    const [first] = foldPlan({ ...TERMS, firstAt: 7, lastAt: 7 + 30 * D, warmupMs: 2 * H }).folds;
    expect(first).toMatchObject({ inSample: { from: 7 + 2 * H, to: 7 + 2 * H + 10 * D } });
  });

  it('include a slightly short last fold, and leave out a remainder that is too short', () => {
    expect(foldPlan({ ...TERMS, lastAt: 30 * D - 12 * H }).folds.at(-1)!.outOfSample)
      .toStrictEqual({ from: 25 * D, to: 30 * D - 12 * H + 1 });
    const { folds, unusedMs } = foldPlan({ ...TERMS, lastAt: 29 * D - 1 });
    expect([folds.length, unusedMs]).toStrictEqual([3, 4 * D]);
  });

  it('never overlap out of sample, never look ahead, stay within the recording, and leave less than one fold', () => {
    const span = fc.integer({ min: 1, max: 1_000 });
    fc.assert(fc.property(span, span, fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 10_000 }),
      fc.boolean(), (inSampleMs, outOfSampleMs, warmupMs, length, anchored) => {
        fc.pre(inSampleMs >= warmupMs && length > warmupMs + inSampleMs + outOfSampleMs
          && length / outOfSampleMs < 1_000);
        const { folds, unusedMs } =
          foldPlan({ firstAt: 50, lastAt: 50 + length, warmupMs, inSampleMs, outOfSampleMs, anchored });
        for (const [i, { number, inSample, outOfSample }] of folds.entries()) {
          expect(number).toBe(i + 1);
          expect(inSample.to).toBe(outOfSample.from);
          expect(inSample.from).toBeGreaterThanOrEqual(50 + warmupMs);
          expect(inSample.to - inSample.from).toBe(anchored ? inSampleMs + i * outOfSampleMs : inSampleMs);
          expect(outOfSample.from).toBe(i === 0 ? 50 + warmupMs + inSampleMs : folds[i - 1]!.outOfSample.to);
          expect(outOfSample.to - outOfSample.from)
            .toSatisfy((ms: number) => ms <= outOfSampleMs && ms >= 0.9 * outOfSampleMs);
          expect(outOfSample.to).toBeLessThanOrEqual(50 + length + 1);
        }
        expect(unusedMs).toBeLessThan(0.9 * outOfSampleMs);
      }));
  });

  it.each([
    [
      'in-sample is shorter than the warm-up', { ...TERMS, warmupMs: 11 * D }, 'USAGE',
      /--in-sample 10d is shorter than the 11d that the strategies need to warm up/,
    ],
    [
      'they are too long for the recording', { ...TERMS, lastAt: 12 * D }, 'RECORDING_INCOMPLETE',
      /one fold takes 10d in-sample, 5d out-of-sample, and the recording spans 12d: shorten/,
    ],
    [
      'they are too long after the warm-up', { ...TERMS, lastAt: 14 * D, warmupMs: 3 * H }, 'RECORDING_INCOMPLETE',
      /3h to warm up, 10d in-sample, 5d out-of-sample/,
    ],
    [
      'there would be thousands', { ...TERMS, outOfSampleMs: 60_000 }, 'USAGE',
      /--out-of-sample 1m makes more than 1000 folds of the .* recorded/,
    ],
  ])('are refused when %s', (_, terms, code, message) => {
    expect(() => foldPlan(terms))
      .toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) as string }));
  });
});
