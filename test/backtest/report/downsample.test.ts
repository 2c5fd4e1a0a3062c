import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { drawnPoints } from '../../../src/backtest/report/downsample.ts';

it('draws few points, with the ends and every part’s extremes among them', () => {
  fc.assert(fc.property(fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 20 }), (values, parts) => {
    const places = drawnPoints(values, parts);
    expect(places.length).toBeLessThanOrEqual(parts * 4);
    expect([places[0], places.at(-1)]).toEqual([0, values.length - 1]);
    expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
    const drawn = places.map((i) => values[i]!);
    expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([Math.min(...values), Math.max(...values)]);
  }));
});

it('draws all of a short line', () => {
  expect(drawnPoints([3, 1, 2])).toEqual([0, 1, 2]);
});
