import { describe, expect, it } from 'vitest';
import type { Grid, GridAxis } from '../../../src/research/sweep/grid.ts';
import { distinct, paramsAt, pointsOf, combinationCount } from '../../../src/research/sweep/grid.ts';

const AXES: readonly GridAxis[] = [
  { strategy: 'a', param: 'x', values: [1, 2, 3] },
  { strategy: 'b', param: 'y', values: ['p', 'q'] },
];
const LONG: readonly GridAxis[] = Array.from({ length: 12 }, (_, i) =>
  ({ strategy: 'a', param: `p${i}`, values: Array.from({ length: 100 }, (_, n) => n) }));

function first(grid: Grid, count: number): string[] {
  return [...pointsOf(grid).take(count)].map((point) => point.join(' '));
}

function drawn(seed: number): string[] {
  return first({ axes: AXES, search: { kind: 'random', samples: 6, seed } }, 10);
}

function beyond(seed: number): Grid {
  return { axes: LONG, search: { kind: 'random', samples: 500, seed } };
}

describe('a grid', () => {
  it('has every combination once, with the last parameter varying fastest', () => {
    expect([...pointsOf({ axes: AXES, search: { kind: 'grid' } })])
      .toStrictEqual([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]);
    expect(combinationCount(AXES)).toBe(6);
    expect(paramsAt(AXES, [2, 0])).toStrictEqual({ a: { x: 3 }, b: { y: 'p' } });
  });

  it('is sampled at random by the seed, each combination once, until none are left', () => {
    expect(drawn(1)).toStrictEqual(drawn(1));
    expect(drawn(1).toSorted()).toStrictEqual(['0 0', '0 1', '1 0', '1 1', '2 0', '2 1']);
    expect(new Set([1, 2, 3, 4, 5].map((seed) => drawn(seed).join())).size).toBeGreaterThan(1);
  });

  it('is sampled without being enumerated when it is too large for memory', () => {
    expect(new Set(first(beyond(1), 500)).size).toBe(500);
    expect(first(beyond(1), 500)).toStrictEqual(first(beyond(1), 500));
    expect(first(beyond(1), 500)).not.toStrictEqual(first(beyond(2), 500));
    for (let i = 0; i < 12; i++)
      expect(new Set(first(beyond(1), 500).map((point) => point.split(' ')[i])).size).toBeGreaterThan(80);
  });

  it('ignores a repeated value', () => {
    expect(distinct([1, 2, 1, '1', true, [1], [1], { b: 1, a: 2 }, { a: 2, b: 1 }]))
      .toStrictEqual([1, 2, '1', true, [1], { a: 2, b: 1 }]);
  });
});
