import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BookLevel } from '../../src/market/order-book.ts';
import {
  asks, bids, bookTop, costToFill, depthImbalance, depthWithin, impliedProbability, isCrossed, isEmpty, ONE_USD,
  probabilityInterval,
} from '../../src/market/order-book.ts';
import { book } from './events.ts';

const levels = fc.array(fc.record({
  priceMicroUsd: fc.integer({ min: 1, max: 99 }).map((cents) => cents * 10_000),
  size: fc.integer({ min: 1, max: 5_000 }),
}), { minLength: 1, maxLength: 12 });

const total = (side: readonly BookLevel[]): number => side.reduce((sum, { size }) => sum + size, 0);

describe('an order book with bids on both sides', () => {
  const yes = [[42, 100], [41, 50], [40, 7]] as const;
  const no = [[55, 30], [54, 20], [50, 1]] as const;

  it('has its best bid at the highest price, whatever the order of levels', () => {
    const expected = bookTop(book(yes, no), 'yes');
    expect(expected).toMatchObject({ bestBid: 420_000, bestAsk: 450_000, mid: 435_000, spread: 30_000 });
    expect(bookTop(book(yes.toReversed(), no.toReversed()), 'yes')).toEqual(expected);
    expect(bookTop(book([yes[1], yes[0], yes[2]], [no[2], no[0], no[1]]), 'yes')).toEqual(expected);
  });

  it('derives asks from the other side’s bids, lowest first', () => {
    expect(asks(book(yes, no), 'yes')).toEqual([
      { priceMicroUsd: 450_000, size: 30 }, { priceMicroUsd: 460_000, size: 20 }, { priceMicroUsd: 500_000, size: 1 },
    ]);
    expect(asks(book(yes, no), 'no')[0]).toEqual({ priceMicroUsd: 580_000, size: 100 });
  });

  it('sums levels of one price without changing its input', () => {
    const twice = book([[42, 100], [41, 5], [42, 11]], no);
    const before = structuredClone(twice);
    expect(bids(twice, 'yes')).toEqual([{ priceMicroUsd: 420_000, size: 111 }, { priceMicroUsd: 410_000, size: 5 }]);
    expect(twice).toEqual(before);
  });

  it('weights the microprice by the other side’s size', () => {
    // (0.42 * 30 + 0.45 * 100) / 130 and (100 - 30) / 130, computed manually.
    const top = bookTop(book(yes, no), 'yes');
    expect(top.microprice).toBeCloseTo(443_076.923_077, 5);
    expect(top.imbalance).toBeCloseTo(0.538_461_538, 8);
    const even = bookTop(book([[48, 25]], [[50, 25]]), 'yes');
    expect(even).toMatchObject({ microprice: 490_000, imbalance: 0 });
  });

  it('accepts fractional sizes', () => {
    expect(bids(book([[42, 0.25], [42, 0.5]], []), 'yes')).toEqual([{ priceMicroUsd: 420_000, size: 0.75 }]);
  });

  it.each([0, -5, Number.NaN])('ignores a level of size %d', (size) => {
    const odd = book([[60, size], [42, 100]], [[55, 30]]);
    expect(bookTop(odd, 'yes')).toEqual(bookTop(book([[42, 100]], [[55, 30]]), 'yes'));
    expect(isEmpty(book([[60, size]], [[30, size]]))).toBe(true);
    expect(bookTop(book([[60, size]], [[30, size]]), 'yes'))
      .toMatchObject({ bestBid: undefined, microprice: undefined });
  });
});

describe('an incomplete order book', () => {
  it('leaves the ask undefined without NO bids, never 1 and never 0', () => {
    const top = bookTop(book([[42, 100]], []), 'yes');
    expect(top).toEqual({
      bestBid: 420_000, bestAsk: undefined, mid: undefined, spread: undefined, microprice: undefined,
      imbalance: undefined,
    });
    expect(bookTop(book([[42, 100]], []), 'no')).toMatchObject({ bestBid: undefined, bestAsk: 580_000 });
  });

  it('leaves the bid undefined without YES bids', () => {
    expect(bookTop(book([], [[55, 1]]), 'yes')).toMatchObject({ bestBid: undefined, bestAsk: 450_000, mid: undefined });
  });

  it('is empty without levels, and then has no prices and is not crossed', () => {
    expect(isEmpty(book([], []))).toBe(true);
    expect(isEmpty(book([[1, 1]], []))).toBe(false);
    expect(isCrossed(book([], []))).toBe(false);
    expect(impliedProbability(book([], []), 1)).toBeUndefined();
  });
});

describe('a crossed order book', () => {
  it('has best bids that add up to more than a dollar', () => {
    expect(isCrossed(book([[60, 1]], [[41, 1]]))).toBe(true);
    expect(isCrossed(book([[60, 1]], [[40, 1]]))).toBe(false);
    expect(bookTop(book([[60, 1]], [[41, 1]]), 'yes').spread).toBe(-10_000);
  });

  it('issue 13.11: has no mid and no microprice on either side', () => {
    for (const side of ['yes', 'no'] as const) expect(bookTop(book([[60, 1]], [[41, 3]]), side)).toMatchObject({
      mid: undefined, microprice: undefined, spread: -10_000, bestBid: expect.any(Number), bestAsk: expect.any(Number),
    });
    // At the same price they meet, and do not cross.
    expect(bookTop(book([[60, 1]], [[40, 1]]), 'yes')).toMatchObject({ mid: 600_000, microprice: 600_000, spread: 0 });
  });
});

describe('the implied probability', () => {
  it('is the mid as a fraction', () => {
    expect(impliedProbability(book([[42, 100]], [[55, 30]]), 0.1)).toBe(0.435);
  });

  it('is undefined in a one-sided, crossed or too wide book', () => {
    expect(impliedProbability(book([[42, 100]], []), 0.1)).toBeUndefined();
    expect(impliedProbability(book([[60, 1]], [[41, 1]]), 0.1)).toBeUndefined();
    expect(impliedProbability(book([[42, 1]], [[47, 1]]), 0.1)).toBeUndefined();
  });

  it('is defined at exactly the widest allowed spread, and undefined a hundredth of a cent above', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 9_800 }), (hundredths) => {
      const wide = (spread: number): unknown =>
        impliedProbability(book([[1, 1]], [[(9_900 - spread) / 100, 1]]), hundredths / 10_000);
      expect(wide(hundredths)).toBeTypeOf('number');
      expect(wide(hundredths + 1)).toBeUndefined();
    }));
  });
});

describe('the identities of a two-sided book', () => {
  it('hold for every book: both asks are two dollars less both bids, and NO mirrors YES', () => {
    fc.assert(fc.property(levels, levels, (yes, no) => {
      const both = { yes, no };
      const y = bookTop(both, 'yes');
      const n = bookTop(both, 'no');
      expect(y.bestAsk! + n.bestAsk!).toBe(2 * ONE_USD - (y.bestBid! + n.bestBid!));
      expect(y.bestAsk! + n.bestAsk!).toBe(ONE_USD + y.spread!);
      expect(y.spread).toBe(n.spread);
      if (isCrossed(both)) {
        expect([y.mid, n.mid, y.microprice, n.microprice]).toStrictEqual([undefined, undefined, undefined, undefined]);
      } else {
        expect(y.mid! + n.mid!).toBe(ONE_USD);
        expect(y.microprice! + n.microprice!).toBeCloseTo(ONE_USD, 5);
      }
      expect(y.imbalance! + n.imbalance!).toBeCloseTo(0, 12);
      expect(isCrossed(both)).toBe(y.bestBid! + n.bestBid! > ONE_USD);
    }));
  });

  it('do not depend on the order of the levels', () => {
    fc.assert(fc.property(levels, levels, fc.integer(), (yes, no, turn) => {
      const rotate = (side: readonly BookLevel[]): BookLevel[] => {
        const by = Math.abs(turn) % side.length;
        return [...side.slice(by), ...side.slice(0, by)].reverse();
      };
      expect(bookTop({ yes: rotate(yes), no: rotate(no) }, 'yes')).toEqual(bookTop({ yes, no }, 'yes'));
    }));
  });

  it('keep every contract: the sizes of the levels add up to the input', () => {
    fc.assert(fc.property(levels, (yes) => {
      const sorted = bids({ yes, no: [] }, 'yes');
      expect(total(sorted)).toBe(total(yes));
      expect(sorted.every((level, i) => i === 0 || level.priceMicroUsd < sorted[i - 1]!.priceMicroUsd)).toBe(true);
    }));
  });
});

describe('the interval of the implied probability', () => {
  it('goes from the best bid to the best ask of YES', () => {
    expect(probabilityInterval(book([[40, 7], [42, 100]], [[50, 1], [55, 30]]))).toEqual({ lower: 0.42, upper: 0.45 });
  });

  it('is undefined where a side is missing or the book is crossed', () => {
    expect(probabilityInterval(book([[42, 1]], []))).toBeUndefined();
    expect(probabilityInterval(book([], [[42, 1]]))).toBeUndefined();
    expect(probabilityInterval(book([[60, 1]], [[50, 1]]))).toBeUndefined();
  });

  it('contains the mid, and mirrors for the other side', () => {
    fc.assert(fc.property(levels, levels, (yes, no) => {
      const interval = probabilityInterval({ yes, no });
      const mirrored = probabilityInterval({ yes: no, no: yes });
      const mid = impliedProbability({ yes, no }, 1);
      expect(interval === undefined).toBe(mid === undefined);
      if (interval === undefined || mid === undefined) return;
      expect(interval.lower <= mid && mid <= interval.upper).toBe(true);
      expect(mirrored!.lower).toBeCloseTo(1 - interval.upper, 12);
    }));
  });
});

describe('the imbalance of the depth', () => {
  // Bids 100 at 0.42, 60 at 0.40 and 900 at 0.01; asks 30 at 0.45, 10 at 0.47.
  const deep = book([[42, 100], [40, 60], [1, 900]], [[55, 30], [53, 10]]);

  it('counts the levels within a distance of the best price', () => {
    expect(depthImbalance(deep, 'yes', 0)).toBeCloseTo((100 - 30) / 130, 12);
    expect(depthImbalance(deep, 'yes', 0.02)).toBeCloseTo((160 - 40) / 200, 12);
    expect(depthWithin(deep, 'yes', 0)).toEqual({ bid: 100, ask: 30 });
    expect(depthWithin(deep, 'no', 0.02)).toEqual({ bid: 40, ask: 160 });
    expect(depthWithin({ ...deep, no: [] }, 'yes', 0)).toEqual({ bid: 100, ask: 0 });
    expect(depthImbalance(deep, 'yes', 1)).toBeCloseTo((1_060 - 40) / 1_100, 12);
  });

  it('is undefined without a side and of a crossed book', () => {
    expect(depthImbalance(book([[42, 100]], []), 'yes', 1)).toBeUndefined();
    expect(depthImbalance(book([[60, 1]], [[50, 1]]), 'yes', 1)).toBeUndefined();
  });

  it('lies within -1 and 1, has the other sign for the other side, and is that of the best level at 0', () => {
    fc.assert(fc.property(levels, levels, fc.double({ min: 0, max: 1, noNaN: true }), (yes, no, within) => {
      const imbalance = depthImbalance({ yes, no }, 'yes', within);
      expect(imbalance === undefined).toBe(isCrossed({ yes, no }));
      if (imbalance === undefined) return;
      expect(Math.abs(imbalance)).toBeLessThanOrEqual(1);
      expect(depthImbalance({ yes, no }, 'no', within)).toBeCloseTo(-imbalance, 12);
      expect(depthImbalance({ yes, no }, 'yes', 0)).toBeCloseTo(bookTop({ yes, no }, 'yes').imbalance!, 12);
    }));
  });
});

describe('the cost of a fill', () => {
  // Asks of YES: 30 at 0.45, 20 at 0.46, 1 at 0.50.
  const shown = book([[42, 100], [41, 50]], [[50, 1], [54, 20], [55, 30]]);

  it('walks the asks from the best on, as computed manually', () => {
    expect(costToFill(shown, 'yes', 40)).toEqual({
      totalMicroUsd: 30 * 450_000 + 10 * 460_000, averageMicroUsd: 452_500, worstMicroUsd: 460_000,
    });
    expect(costToFill(shown, 'yes', 0.5)).toEqual({
      totalMicroUsd: 225_000, averageMicroUsd: 450_000, worstMicroUsd: 450_000,
    });
    expect(costToFill(shown, 'yes', 120, 'sell')).toEqual({
      totalMicroUsd: 100 * 420_000 + 20 * 410_000, averageMicroUsd: 50_200_000 / 120, worstMicroUsd: 410_000,
    });
  });

  it('is undefined where the orders do not suffice, and of a crossed book', () => {
    expect(costToFill(shown, 'yes', 51)?.worstMicroUsd).toBe(500_000);
    expect(costToFill(shown, 'yes', 51.001)).toBeUndefined();
    expect(costToFill(book([[60, 9]], [[50, 9]]), 'yes', 1)).toBeUndefined();
  });

  it('fills fractional sizes whose sum is rounded', () => {
    expect(0.8 - 0.7).toBeGreaterThan(0.1);
    const fractional = book([], [[55, 0.7], [54, 0.1], [50, 9]]);
    expect(costToFill(fractional, 'yes', 0.8)?.worstMicroUsd).toBe(460_000);
  });

  it.each([0, -1, Number.NaN, Infinity])('refuses %d contracts', (contracts) => {
    expect(() => costToFill(shown, 'yes', contracts)).toThrow('expected a number of contracts above 0');
  });

  it('grows with the size, and sales of YES bring in what purchases of NO leave of a dollar', () => {
    fc.assert(fc.property(levels, levels, fc.integer({ min: 1, max: 2_000 }), (yes, no, contracts) => {
      const less = costToFill({ yes, no }, 'yes', contracts);
      const more = costToFill({ yes, no }, 'yes', contracts + 1);
      if (more !== undefined) {
        expect(more.totalMicroUsd).toBeGreaterThan(less!.totalMicroUsd);
        expect(more.averageMicroUsd).toBeGreaterThanOrEqual(less!.averageMicroUsd * (1 - 1e-12));
        expect(more.worstMicroUsd).toBeGreaterThanOrEqual(more.averageMicroUsd * (1 - 1e-12));
      }
      const sold = costToFill({ yes, no }, 'yes', contracts, 'sell');
      const bought = costToFill({ yes, no }, 'no', contracts);
      expect(sold === undefined).toBe(bought === undefined);
      if (sold !== undefined) expect(sold.totalMicroUsd + bought!.totalMicroUsd).toBeCloseTo(contracts * ONE_USD, 3);
    }));
  });
});
