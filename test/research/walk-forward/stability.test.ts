import { describe, expect, it } from 'vitest';
import { stabilityOf, walkForwardEfficiency } from '../../../src/research/walk-forward/stability.ts';

const DAY = 86_400_000;
const gain = (share: number, days: number): { share: number; spanMs: number } => ({ share, spanMs: days * DAY });

describe('the stability of choices', () => {
  it('counts changes between adjacent choices, and how often each value was chosen', () => {
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

  it('separates strategies, and compares values instead of their texts', () => {
    expect(stabilityOf([{ a: { x: 1 }, b: { x: '1' } }, { a: { x: '1' }, b: { x: '1' } }])).toMatchObject({
      changes: 1, parameters: [{ strategy: 'a', changes: 1 }, { strategy: 'b', changes: 0 }],
    });
    expect(stabilityOf([])).toStrictEqual({ choices: 0, changes: 0, parameters: [] });
  });
});

describe('walk-forward efficiency', () => {
  it('is 0.5 when the yearly gain halves out of sample, for periods of any length', () => {
    expect(walkForwardEfficiency([{ inSample: gain(0.4, 200), outOfSample: gain(0.05, 50) }])).toBeCloseTo(0.5, 12);
    expect(walkForwardEfficiency([0.1, 0.2].map((share) => (
      { inSample: gain(0.2, 73.05), outOfSample: gain(share, 36.525) })))).toBeCloseTo(1.5, 12);
  });

  it('weights folds by duration, and is negative after an out-of-sample loss', () => {
    expect(walkForwardEfficiency([
      { inSample: gain(0.1, 10), outOfSample: gain(0.02, 10) },
      { inSample: gain(0.3, 30), outOfSample: gain(-0.06, 10) },
    ])).toBeCloseTo(-0.2, 12);
  });

  it('is undefined for an in-sample loss, for no gain, and without folds', () => {
    expect([
      walkForwardEfficiency([{ inSample: gain(-0.1, 10), outOfSample: gain(-0.1, 10) }]),
      walkForwardEfficiency([{ inSample: gain(0, 10), outOfSample: gain(1, 10) }]), walkForwardEfficiency([]),
    ]).toStrictEqual([undefined, undefined, undefined]);
  });
});
