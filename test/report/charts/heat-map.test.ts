import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeatMap } from '../../../src/report/charts/heat-map.ts';
import { heatMapFigure } from '../../../src/report/charts/heat-map.ts';
import { heatScale } from '../../../src/report/charts/heat-scale.ts';
import { markup as text } from '../../../src/web/markup.ts';
import { GRID } from '../reports.ts';

const cells = (map: HeatMap): string[] =>
  [...heatMapFigure(map).markup.matchAll(/<td class="heat[^>]*>.*?<\/td>/g)].map(([cell]) => cell);

describe('a heat map', () => {
  it('contains each number, each label, and the configured cell', () => {
    expect(cells(GRID)).toHaveLength(20);
    expect(cells(GRID)[6])
      .toBe('<td class="heat up2 configured">4.10 %<span class="unseen"> (as configured)</span></td>');
    const { markup } = heatMapFigure(GRID);
    for (const label of [...GRID.down.labels, ...GRID.across.labels]) expect(markup).toContain(`>${label}</th>`);
    expect(markup.match(/configured/g)).toHaveLength(4);
    expect(heatMapFigure({ ...GRID, across: { name: 'cost', labels: ['a', 'b', 'c', 'd', 'x'.repeat(400)] } }).markup)
      .toContain(`>${'x'.repeat(60)}…</th>`);
  });

  it('contains each reason for missing numbers once', () => {
    const { markup } = heatMapFigure(GRID);
    expect(markup.match(/no swap was made/g)).toHaveLength(1);
    expect(markup.match(/–<sup>a<\/sup>/g)).toHaveLength(2);
    const many = {
      ...GRID, values: GRID.values.map((row, r) => row.map((_, c) => ({ missing: `reason ${r * 5 + c}` }))),
      configured: undefined,
    };
    expect(heatMapFigure(many).markup).toContain('<sup>t</sup> reason 19');
  });

  it('leaves out cells without a value, and has other texts and a last column where asked', () => {
    const { markup } = heatMapFigure({
      ...GRID, values: GRID.values.map((row, r) => row.map((value, c) => (r === 0 && c < 2 ? null : value))),
      textOf: (row, column) => text`${row}/${column}`,
      total: { name: 'all', texts: GRID.values.map((_, row) => text`sum ${row}`) },
    });
    expect(markup.match(/<td><\/td>/g)).toHaveLength(3);
    expect(markup).toContain('>3/0</td>');
    expect(markup).toContain('<th scope="col">all</th></tr></thead>');
    expect(markup).toContain('<td class="total">sum 3</td></tr>');
  });

  it('is refused where labels and values differ in number', () => {
    expect(() => heatMapFigure({ ...GRID, values: GRID.values.slice(1) }))
      .toThrow(/a value for each of 4 by 5 labels, got rows of 5, 5, 5/);
    expect(() => heatMapFigure({ ...GRID, across: { name: 'cost', labels: ['one'] } })).toThrow(/4 by 1 labels/);
  });
});

describe('the colours of a heat map', () => {
  it('change hue at the middle, and are stronger farther from it', () => {
    fc.assert(fc.property(fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 1 }),
      fc.constantFrom(0, 1, -3), (values, middle) => {
        const { style, steps } = heatScale(values, middle);
        const strength = (value: number): number => Number(style(value).replace(/\D/g, ''));
        for (const value of values)
          expect(style(value).startsWith(value < middle ? 'down' : value > middle ? 'up' : 'even')).toBe(true);
        for (const [a, b] of values.flatMap((first) => values.map((second) => [first, second] as const)))
          if (Math.abs(a - middle) > Math.abs(b - middle)) expect(strength(a)).toBeGreaterThanOrEqual(strength(b));
        // The legend holds each value in its colour.
        for (const value of values)
          expect(steps.find(({ from, to }) => value >= from && value <= to)?.style).toBe(style(value));
      }));
  });

  it('span the smallest to the largest value without a middle', () => {
    const { style } = heatScale([10, 20, 30, 50], null);
    expect([10, 20, 30, 50].map(style)).toEqual(['level1', 'level2', 'level3', 'level4']);
    expect(heatScale([7, 7], null).steps).toEqual([{ style: 'even', from: 7, to: 7 }]);
    expect(heatScale([], 0).steps).toEqual([]);
  });
});
