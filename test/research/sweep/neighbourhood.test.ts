import { describe, expect, it } from 'vitest';
import { neighbourhoodOf } from '../../../src/research/sweep/neighbourhood.ts';
import type { SweepRow } from '../../../src/research/sweep/grid.ts';
import { axis, landscapeRows, row } from './rows.ts';

const AXES = [axis('x', 1, 2, 3, 4, 5), axis('y', 1, 2, 3, 4, 5)] as const;

function cone(x: number, y: number): number {
  return 4 - Math.hypot(x - 2, y - 2);
}

function around(
  best: SweepRow, rows: readonly SweepRow[], better: 'higher' | 'lower' = 'higher',
): ReturnType<typeof neighbourhoodOf> {
  return neighbourhoodOf(best, rows, { axes: AXES, better });
}

describe('the neighbourhood of the best combination', () => {
  it('is a plateau when the neighbours are similar', () => {
    const rows = landscapeRows(AXES, (x, y) => (Math.abs(x - 2) + Math.abs(y - 2) <= 1 ? 2 - 0.05 * (x + y) : 0));
    const best = rows.find(({ point }) => point.join() === '2,2')!;
    const found = around(best, rows);
    expect(found.shape).toBe('plateau');
    expect(found.neighbours.map(({ param, from, to }) => [param, from, to]))
      .toStrictEqual([['s.x', 3, 2], ['s.x', 3, 4], ['s.y', 3, 2], ['s.y', 3, 4]]);
  });

  it('is a needle when the neighbours are like all others', () => {
    const rows = landscapeRows(AXES, (x, y) => (x === 2 && y === 2 ? 5 : (x * 7 + y * 3) % 4 / 10));
    expect(around(rows.find(({ value }) => value === 5)!, rows).shape).toBe('needle');
  });

  it('is a slope in between, also when lower is better', () => {
    const rows = landscapeRows(AXES, cone);
    expect(around(rows.find(({ value }) => value === 4)!, rows).shape).toBe('slope');
    const upside = landscapeRows(AXES, (x, y) => -cone(x, y));
    expect(around(upside.find(({ value }) => value === -4)!, upside, 'lower').shape).toBe('slope');
  });

  it('counts a neighbour without the figure as the worst', () => {
    const rows = landscapeRows(AXES, (x, y) =>
      (x === 2 && y === 2 ? 3 : Math.abs(x - 2) + Math.abs(y - 2) === 1 ? null : (x + y) / 10));
    const found = around(rows.find(({ value }) => value === 3)!, rows);
    expect(found.neighbours.map(({ value }) => value)).toStrictEqual([null, null, null, null]);
    expect(found).toMatchObject({ median: 0, shape: 'needle' });
  });

  it('uses the order of values by size, not in the file', () => {
    const axes = [axis('x', 30, 10, 20), axis('unit', '20s', '5s', '10s'), axis('kind', 'a', 'b')] as const;
    const best = row(axes, [2, 2, 0], 2);
    const others = [[0, 2, 0], [1, 2, 0], [2, 0, 0], [2, 1, 0], [2, 2, 1]].map((point) => row(axes, point, 1));
    expect(neighbourhoodOf(best, [best, ...others], { axes, better: 'higher' }).neighbours.map(({ to }) => to))
      .toStrictEqual([10, 30, '5s', '20s']);
  });

  it('is unknown when few neighbours were tried', () => {
    const best = row(AXES, [0, 0], 1);
    expect(around(best, [best, row(AXES, [4, 4], 0), row(AXES, [1, 0], 1)]).shape).toBe('unknown');
  });
});
