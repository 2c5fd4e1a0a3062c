import { describe, expect, it } from 'vitest';
import { landscapeOf, pointKey } from '../../../src/research/sweep/landscape.ts';
import { axis, landscapeRows, row } from './rows.ts';

const NONE = new Map<string, string>();

describe('the landscape of a sweep', () => {
  it('has all combinations of two parameters in order, with the reasons for gaps', () => {
    const axes = [axis('x', 20, 10), axis('y', 1, 2, 3)] as const;
    const rows = landscapeRows(axes, (x, y) => (x === 1 && y === 2 ? null : 10 * x + y))
      .filter(({ point }) => point.join() !== '0,0');
    const map = landscapeOf(rows.find(({ value }) => value === 11)!, rows, {
      axes, better: 'higher', isWhole: true, missing: new Map([[pointKey([0, 0]), 'refused: x']]),
    })!;
    expect(map.down).toStrictEqual({ name: 's.x', labels: ['10', '20'] });
    expect(map.across.labels).toStrictEqual(['1', '2', '3']);
    expect(map.values).toStrictEqual([[10, 11, expect.stringContaining('no objective')], ['refused: x', 1, 2]]);
    expect(map.best).toStrictEqual({ row: 0, column: 1 });
    expect(map.rest).toBeUndefined();
  });

  it('uses the two parameters with the largest effect, the others as in the best combination', () => {
    const axes = [axis('idle', 1, 2), axis('x', 1, 2, 3), axis('y', 1, 2)] as const;
    const rows = axes[0].values.flatMap((_, i) => landscapeRows([axes[1], axes[2]], (x, y) => 10 * x + 5 * y + i)
      .map(({ point, value }) => row(axes, [i, ...point], value)));
    const best = rows.find(({ value }) => value === 26)!;
    const map = landscapeOf(best, rows, { axes, better: 'higher', isWhole: true, missing: NONE })!;
    expect([map.down.name, map.across.name]).toStrictEqual(['s.x', 's.y']);
    expect(map.values).toStrictEqual([[1, 6], [11, 16], [21, 26]]);
    expect(map.rest).toBe('The others are as in the best combination: s.idle 2.');
  });

  it('shows the best over the other parameters after a random search', () => {
    const axes = [axis('x', 1, 2), axis('y', 1, 2), axis('z', 1, 2)] as const;
    const rows =
      [row(axes, [0, 0, 0], 1), row(axes, [0, 0, 1], 3), row(axes, [1, 1, 0], 9), row(axes, [1, 0, 1], null)];
    const map = landscapeOf(rows[2]!, rows, { axes, better: 'higher', isWhole: false, missing: NONE })!;
    expect(map.values.flat()).toContain(3);
    expect(map.values.flat()).toContain('not tried');
    expect(map.rest).toMatch(/^Each cell is the best of what was tried with other values of s\./);
  });

  it('leaves out values of a large grid, but never the best one', () => {
    const axes = [axis('x', ...Array.from({ length: 200 }, (_, i) => i)), axis('y', 1, 2)] as const;
    const rows = landscapeRows(axes, (x, y) => (x === 137 && y === 1 ? 1_000 : x));
    const map = landscapeOf(rows.find(({ value }) => value === 1_000)!, rows, {
      axes, better: 'higher', isWhole: true, missing: NONE,
    })!;
    expect(map.values).toHaveLength(40);
    expect(map.values[map.best.row]![map.best.column]).toBe(1_000);
    expect(map.thinned).toBe('Of the 200 values of s.x 40 are shown.');
  });

  it('is undefined when fewer than two parameters vary', () => {
    const axes = [axis('x', 1, 2), axis('y', 1)] as const;
    const rows = landscapeRows(axes, (x) => x);
    expect(landscapeOf(rows[1]!, rows, { axes, better: 'higher', isWhole: true, missing: NONE })).toBeUndefined();
  });
});
