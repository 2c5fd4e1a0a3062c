import { describe, expect, it } from 'vitest';
import { stabilityOf, walkForwardEfficiency, yearlyGain } from '../../../src/research/walk-forward/stability.ts';

const DAY = 86_400_000;
const gain = (share: number, days: number): { share: number; spanMs: number } => ({ share, spanMs: days * DAY });

describe('how choices hold', () => {
  it('counts a change wherever another value follows, and how often each was chosen', () => {
    const chosen = [[10, 2], [10, 3], [20, 3], [10, 3]].map(([window, k]) => ({ dip: { window: window!, k: k! } }));
    expect(stabilityOf(chosen)).toStrictEqual({
      choices: 4, changes: 3,
      parameters: [
        {
          strategy: 'dip', parameter: 'window', changes: 2, values: [{ value: 10, folds: 3 }, { value: 20, folds: 1 }],
        },
        { strategy: 'dip', parameter: 'k', changes: 1, values: [{ value: 3, folds: 3 }, { value: 2, folds: 1 }] },
      ],
    });
  });

  it('keeps strategies apart, and takes values for what they are, not for how they print', () => {
    expect(stabilityOf([{ a: { x: 1 }, b: { x: '1' } }, { a: { x: '1' }, b: { x: '1' } }])).toMatchObject({
      changes: 1, parameters: [{ strategy: 'a', changes: 1 }, { strategy: 'b', changes: 0 }],
    });
    expect(stabilityOf([])).toStrictEqual({ choices: 0, changes: 0, parameters: [] });
  });
});

describe('walk-forward efficiency', () => {
  it('is half where a year out of sample makes half of a year in-sample, however long either was', () => {
    expect(walkForwardEfficiency([{ inSample: gain(0.4, 200), outOfSample: gain(0.05, 50) }])).toBeCloseTo(0.5, 12);
    expect(yearlyGain([gain(0.1, 36.525), gain(0.2, 36.525)])).toBeCloseTo(1.5, 12);
  });

  it('weighs folds by their time, and is negative where out of sample was lost', () => {
    expect(walkForwardEfficiency([
      { inSample: gain(0.1, 10), outOfSample: gain(0.02, 10) },
      { inSample: gain(0.3, 30), outOfSample: gain(-0.06, 10) },
    ])).toBeCloseTo(-0.2, 12);
  });

  it('is none of a loss in-sample, which would turn its sign, of no gain, and of no fold', () => {
    expect([
      walkForwardEfficiency([{ inSample: gain(-0.1, 10), outOfSample: gain(-0.1, 10) }]),
      walkForwardEfficiency([{ inSample: gain(0, 10), outOfSample: gain(1, 10) }]), walkForwardEfficiency([]),
    ]).toStrictEqual([undefined, undefined, undefined]);
  });
});
