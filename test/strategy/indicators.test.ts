import * as fc from 'fast-check';
import { from, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { BollingerBands, Trend } from '../../src/strategy/index.ts';
import { bollinger, PricedQuote, Regression, Sma, smaCrossover } from '../../src/strategy/index.ts';
import { buyingSol } from '../market/events.ts';

const priced = (price: number, at: number): PricedQuote => new PricedQuote(buyingSol(150_000, at), price);

function bandsOf(prices: readonly number[], window: number, k: number): BollingerBands[] {
  let all: BollingerBands[] = [];
  from(prices.map(priced)).pipe(bollinger(window, k), toArray()).subscribe((bands) => { all = bands; });
  return all;
}

function trendsOf(prices: readonly number[], fast: number, slow: number): [number, Trend][] {
  let all: [number, Trend][] = [];
  from(prices.map(priced)).pipe(smaCrossover(fast, slow), toArray())
    .subscribe((trends) => { all = trends.map(({ trend, at }) => [at.at, trend]); });
  return all;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const price = fc.double({ min: 1e-9, max: 1e6, noNaN: true });

describe('Bollinger bands', () => {
  it('are the mean and k population deviations around it, as computed manually', () => {
    // Of 102, 98, 100, 95: mean 98.75, squares 10.5625 + 0.5625 + 1.5625 + 14.0625 = 26.75, variance 6.6875.
    const [bands] = bandsOf([102, 98, 100, 95], 4, 2);
    expect(bands!.middle).toBe(98.75);
    expect(bands!.lower).toBeCloseTo(93.577_958, 5);
    expect(bands!.upper).toBeCloseTo(103.922_042, 5);
    expect(bands!.z).toBeCloseTo(-1.450_107, 5);
    expect(bands!.quote.price).toBe(95);
  });

  it('start with a full window, and include the present price', () => {
    const bands = bandsOf([1, 2, 3, 4, 5], 3, 1);
    expect(bands.map(({ middle }) => middle)).toEqual([2, 3, 4]);
    expect(bands.map(({ quote }) => quote.at)).toEqual([2, 3, 4]);
  });

  it('equal a naive computation over any prices', () => {
    fc.assert(fc.property(fc.array(price, { maxLength: 40 }), fc.integer({ min: 2, max: 10 }),
      fc.double({ min: 0.1, max: 4, noNaN: true }), (prices, window, k) => {
        const bands = bandsOf(prices, window, k);
        expect(bands).toHaveLength(Math.max(0, prices.length - window + 1));
        bands.forEach(({ middle, lower, upper }, i) => {
          const last = prices.slice(i, i + window);
          const deviation = Math.sqrt(mean(last.map((value) => (value - mean(last)) ** 2)));
          const tolerance = 1e-9 * Math.max(...last);
          expect(Math.abs(middle - mean(last))).toBeLessThanOrEqual(tolerance);
          expect(Math.abs(lower - (mean(last) - k * deviation))).toBeLessThanOrEqual(10 * tolerance);
          expect(Math.abs(upper + lower - 2 * middle)).toBeLessThanOrEqual(tolerance);
        });
      }));
  });

  it('coincide, with z of 0, where the window does not vary', () => {
    fc.assert(fc.property(price, fc.integer({ min: 2, max: 50 }), (same, window) => {
      const [bands] = bandsOf(Array.from({ length: window }, () => same), window, 2);
      expect(bands).toMatchObject({ middle: same, lower: same, upper: same, z: 0 });
    }));
  });
});

const pointsOf = (points: readonly (readonly [x: number, y: number])[], window = 3) => {
  const line = new Regression(window);
  return points.map(([x, y]) => line.add({ x, y }));
};

describe('a regression', () => {
  it('is the line of least squares through the last points, and the distance of the newest from it', () => {
    // Of (0, 0), (1, 1), (2, 4): beta = 4 / 2, alpha = 5/3 - 2; residuals 1/3, -2/3, 1/3, their deviation sqrt(2) / 3.
    const [, , first, second] = pointsOf([[0, 0], [1, 1], [2, 4], [3, 1]]);
    expect(first!.beta).toBeCloseTo(2, 12);
    expect(first!.alpha).toBeCloseTo(-1 / 3, 12);
    expect(first!.z).toBeCloseTo(Math.SQRT1_2, 12);
    // Of (1, 1), (2, 4), (3, 1): a flat line at 2, residuals -1, 2, -1, their deviation sqrt(2).
    expect(second!.beta).toBeCloseTo(0, 12);
    expect(second!.alpha).toBeCloseTo(2, 12);
    expect(second!.z).toBeCloseTo(-Math.SQRT1_2, 12);
  });

  it('has no result before its window is full, where x does not vary, and where all points are on the line', () => {
    expect(pointsOf([[0, 0], [1, 1]])).toEqual([null, null]);
    expect(pointsOf([[5, 1], [5, 2], [5, 4]]).at(-1)).toBeNull();
    expect(pointsOf([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]]).at(-1)).toBeNull();
    expect(pointsOf([[1, 7], [2, 7], [3, 7]]).at(-1)).toBeNull();
  });

  it('refuses a window through which every line goes', () => {
    for (const window of [2, 2.5, Number.NaN]) expect(() => new Regression(window)).toThrow('at least 3 points');
    expect(new Regression(3).getRequiredInputs()).toBe(3);
  });
});

describe('a simple moving average', () => {
  it('equals a naive mean over any prices, however long it runs', () => {
    fc.assert(fc.property(fc.array(price, { minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 30 }),
      (prices, window) => {
        const sma = new Sma(window);
        prices.forEach((value, i) => {
          const last = prices.slice(Math.max(0, i + 1 - window), i + 1);
          expect(Math.abs(sma.push(value) - mean(last))).toBeLessThanOrEqual(1e-8 * Math.max(...prices));
          expect(sma.full).toBe(i + 1 >= window);
        });
      }));
  });

  it('does not drift over a million values', () => {
    const sma = new Sma(100);
    let last = 0;
    for (let i = 0; i < 1_000_000; i++) last = sma.push(i % 2 === 0 ? 1e9 + 0.1 : 1e-3);
    expect(last).toBeCloseTo((1e9 + 0.1 + 1e-3) / 2, 3);
  });
});

describe('a crossover', () => {
  it('emits when the fast mean crosses the slow one, and nothing in between', () => {
    // Fast of 2 and slow of 4, computed manually: (3, 2.5) above, (3.5, 3) above, (2.5, 2.75) below, (0.5, 2) below,
    // (5, 2.75) above.
    expect(trendsOf([1, 2, 3, 3, 4, 1, 0, 10], 2, 4)).toEqual([[3, 'above'], [5, 'below'], [7, 'above']]);
  });

  it('emits nothing before the slow mean is full, or while both are equal', () => {
    expect(trendsOf([1, 2, 3], 2, 4)).toEqual([]);
    expect(trendsOf([5, 5, 5, 5, 5, 5], 2, 4)).toEqual([]);
  });

  it('treats no rounding error as a crossing', () => {
    fc.assert(fc.property(price, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 21, max: 60 }),
      (same, fast, slow) => {
        expect(trendsOf(Array.from({ length: 200 }, () => same), fast, slow)).toEqual([]);
      }), { numRuns: 50 });
  });
});
