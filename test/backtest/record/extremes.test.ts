import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepestAbsolute, drawdowns } from '../../../src/research/metrics/drawdown.ts';
import { Extremes } from '../../../src/backtest/record/extremes.ts';

/** Keeps each `every`th value as a regular sample; returns all kept values in order. */
function keptOf(values: readonly number[], every: number): number[] {
  const extremes = new Extremes<number>();
  return values.flatMap((value, i) => {
    if (i % every === 0 || i === values.length - 1) return [...extremes.keep(value), value];
    extremes.pass(value, () => value);
    return [];
  });
}

const depth = (values: readonly number[]): number => deepestAbsolute(drawdowns(values))?.amount ?? 0;

describe('extremes between regular samples', () => {
  it('preserve the deepest drawdown at any sampling interval', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 1, max: 100 }), (values, every) => {
        const kept = keptOf(values, every);
        expect(depth(kept)).toBe(depth(values));
        expect(kept.at(-1)).toBe(values.at(-1));
      }));
  });

  it('are few: one for a rise and one for a fall, none where the next regular sample is as extreme', () => {
    expect(keptOf([1, 2, 3, 4, 5], 4)).toEqual([1, 5]);
    expect(keptOf([1, 2, 3, 4, 3, 2, 3], 6)).toEqual([1, 4, 2, 3]);
    expect(keptOf([5, 4, 3, 2, 3], 4)).toEqual([5, 2, 3]);
    // Values between a peak and its trough do not affect the drawdown.
    expect(keptOf([5, 1, 3, 2, 4, 3], 5)).toEqual([5, 1, 3]);
  });

  it('ignore unknown values', () => {
    const extremes = new Extremes<string>();
    extremes.keep(5);
    extremes.pass(Number.NaN, () => 'nothing');
    extremes.pass(4, () => 'low');
    expect(extremes.keep(5)).toEqual(['low']);
    extremes.keep(Number.NaN);
    extremes.pass(3, () => 'lower');
    expect(extremes.keep(Number.NaN)).toEqual(['lower']);
  });
});
