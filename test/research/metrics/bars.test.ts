import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EquitySeries } from '../../../src/research/metrics/equity-series.ts';
import { assertSeries, barsOf, equalBars } from '../../../src/research/metrics/equity-series.ts';
import { DAY, HOUR, START, daily } from './series.ts';

const hourly = (hours: number): EquitySeries => ({
  times: Array.from({ length: hours + 1 }, (_, i) => START + i * HOUR),
  values: Array.from({ length: hours + 1 }, (_, i) => 100 + (i % 7)),
});

describe('bars at equal distances', () => {
  it('keep a daily series unchanged, at midnight and at any other hour', () => {
    const values = [10, 11, 12, 11.5];
    expect(barsOf(daily(values), DAY)).toStrictEqual({
      barMs: DAY, perYear: 365.25, closes: [0, 1, 2, 3].map((i) => START + i * DAY), values, coverage: 1,
    });
    expect(barsOf(daily(values, START + 16 * HOUR), DAY)).toMatchObject({ values, coverage: 1 });
  });

  it('take the last value at or before the end of each day by UTC, from the first value on', () => {
    const series = {
      times: [START + 10 * HOUR, START + 20 * HOUR, START + 24 * HOUR, START + 25 * HOUR, START + 47 * HOUR],
      values: [100, 90, 95, 96, 97],
    };
    expect(barsOf(series, DAY))
      .toMatchObject({ values: [100, 95, 97], closes: [START + 10 * HOUR, START + DAY, START + 2 * DAY], coverage: 1 });
  });

  it('carry the last value over a gap and report the coverage', () => {
    const series = { times: [START, START + DAY, START + 5 * DAY], values: [100, 101, 99] };
    expect(barsOf(series, DAY)).toMatchObject({ values: [100, 101, 101, 101, 101, 99], coverage: 2 / 5 });
  });

  it('are hourly below 60 days with hourly points, otherwise daily', () => {
    expect(equalBars(hourly(60 * 24 - 1))).toMatchObject({ barMs: HOUR, perYear: 8766, coverage: 1 });
    expect(equalBars(hourly(60 * 24))).toMatchObject({ barMs: DAY, perYear: 365.25, coverage: 1 });
    expect(equalBars(hourly(60 * 24)).values).toHaveLength(61);
    expect(equalBars(daily([100, 101, 102]))).toMatchObject({ barMs: DAY, values: [100, 101, 102] });
  });

  it('are empty without points, and one for one point', () => {
    expect(equalBars({ times: [], values: [] })).toMatchObject({ values: [], coverage: 1 });
    expect(equalBars(daily([7]))).toMatchObject({ values: [7], coverage: 1 });
  });

  const walk = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 * DAY }), fc.double({ min: 1, max: 1e6, noNaN: true })), {
    minLength: 1, maxLength: 60,
  })
    .chain((steps) => fc.integer({ min: -1e12, max: 1e12 }).map((start): EquitySeries => {
      let at = start;
      return { times: steps.map(([gap]) => (at += gap)), values: steps.map(([, value]) => value) };
    }));

  it('begin and end with the series, at regular closes, with values of the series only', () => {
    fc.assert(fc.property(walk, fc.constantFrom(HOUR, DAY), (series, barMs) => {
      const { values, closes, coverage } = barsOf(series, barMs);
      expect(values).toHaveLength(closes.length);
      expect([values[0], values.at(-1)]).toStrictEqual([series.values[0], series.values.at(-1)]);
      expect(closes.at(-1)! - series.times.at(-1)!)
        .toSatisfy((beyond: number) => beyond < barMs && beyond > -barMs / 2);
      for (const [i, close] of closes.entries()) {
        const known = i === closes.length - 1 ? -1 : series.times.findLastIndex((at) => at <= close);
        expect(values[i]).toBe(series.values.at(known));
        if (i > 0) expect(close % barMs).toBeCloseTo(0);
        if (i > 0)
          expect(close - closes[i - 1]!).toSatisfy((step: number) => step > 0 && step <= (i === 1 ? 1.5 : 1) * barMs);
      }
      expect(coverage).toSatisfy((share: number) => share > 0 && share <= 1);
    }));
  });

  it('join an incomplete bar at either end with its neighbour', () => {
    const beats = [-10_000, 0, HOUR, 2 * HOUR, 2 * HOUR + 313].map((after) => START + after);
    const sliver = barsOf({ times: beats, values: [100, 101, 102, 103, 104] }, HOUR);
    expect(sliver).toMatchObject({
      values: [100, 102, 104], closes: [START - 10_000, START + HOUR, START + 2 * HOUR], coverage: 1,
    });
    const half = barsOf(
      { times: [START - HOUR / 2, START, START + HOUR, START + 1.5 * HOUR], values: [100, 101, 102, 103] }, HOUR,
    );
    expect(half).toMatchObject({ values: [100, 101, 102, 103], coverage: 1 });
    expect(barsOf({ times: [START, START + 1], values: [100, 101] }, HOUR).values).toEqual([100, 101]);
  });
});

describe('a series', () => {
  it.each([
    ['a value missing', { times: [1, 2], values: [1] }],
    ['a value that is no number', { times: [1, 2], values: [1, Number.NaN] }],
    ['time standing still', { times: [1, 1], values: [1, 2] }],
    ['time going backwards', { times: [2, 1], values: [1, 2] }],
  ])('is invalid with %s', (_, series) => {
    expect(() => { assertSeries(series); }).toThrow(/series/);
  });
});
