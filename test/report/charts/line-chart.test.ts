import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { drawnPoints } from '../../../src/report/charts/downsample.ts';

const known = (some: readonly (number | null)[]): number[] => some.filter((value) => value !== null);

it('a line is drawn with far fewer points, and loses no extreme, no end and no gap', () => {
  const values =
    fc.array(fc.option(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { freq: 8 }), { minLength: 1, maxLength: 400 });
  fc.assert(fc.property(values, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 4 }),
    (list, parts, power) => {
      // The samples are not at equal distances.
      const places = drawnPoints(list, { times: list.map((_, i) => i ** power), parts });
      expect(places[0]).toBe(0);
      expect(places.at(-1)).toBe(list.length - 1);
      expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
      const drawn = known(places.map((i) => list[i]!));
      expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([Math.min(...known(list)), Math.max(...known(list))]);
      // Between two consecutive drawn points the line is not interrupted.
      for (const [i, place] of places.entries()) {
        const next = places[i + 1];
        if (next !== undefined && list[place] !== null && list[next] !== null)
          expect(list.slice(place, next)).not.toContain(null);
      }
    }));
});

it('a line is drawn with a limited number of points per part', () => {
  const times = Array.from({ length: 100_000 }, (_, i) => (i < 90_000 ? i : i * 10));
  const places = drawnPoints(times.map((at) => Math.sin(at)), { times, parts: 100 });
  expect(places.length).toBeLessThanOrEqual(400);
  // The number of points depends on the parts, not on the samples.
  expect(places.filter((i) => i >= 90_000).length).toBeGreaterThan(30);
  expect(drawnPoints([3, 1, 2], { times: [0, 1, 2], parts: 1 })).toEqual([0, 1, 2]);
});
