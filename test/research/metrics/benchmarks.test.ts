import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buyAndHold, cashOnly, dollarCostAveraging } from '../../../src/research/metrics/benchmarks.ts';
import { DAY, START } from './series.ts';

const times = (count: number): number[] => Array.from({ length: count }, (_, i) => START + i * DAY);
const prices = fc.array(fc.double({ min: 0.01, max: 1_000, noNaN: true }), { minLength: 1, maxLength: 40 });

describe('benchmarks', () => {
  it('keep the cash, or buy at the first price and hold, less the costs of both ends', () => {
    expect(cashOnly(times(3), { cash: 500 }).values).toStrictEqual([500, 500, 500]);
    expect(buyAndHold({ times: times(3), prices: [10, 12, 9] }, { cash: 1_000 }).values)
      .toStrictEqual([1_000, 1_200, 900]);
    const [first, flat] = buyAndHold({ times: times(2), prices: [10, 10] }, { cash: 1_000, costBps: 100 }).values;
    expect(first).toBe(1_000);
    expect(flat).toBeCloseTo(1_000 * 0.99 * 0.99, 9);
  });

  it('buy in equal parts: 100 at 10, 5 and 20 make 35 pieces, in the usual example of cost averaging', () => {
    const { values } =
      dollarCostAveraging({ times: times(4), prices: [10, 5, 20, 20] }, { cash: 300, orders: 3, everyMs: DAY });
    expect(values).toStrictEqual([300, 250, 700, 700].map((value) => expect.closeTo(value, 9)));
  });

  it('make a missed purchase at the next price', () => {
    const { values } = dollarCostAveraging(
      { times: [START, START + 2.5 * DAY], prices: [10, 20] }, { cash: 400, orders: 4, everyMs: DAY },
    );
    expect(values[1]).toBeCloseTo(100 + 100 * 2 + 200, 9);
  });

  it('end between the best and the worst price, and hold everything after one order', () => {
    fc.assert(fc.property(prices, fc.integer({ min: 1, max: 20 }), (list, orders) => {
      const series = { times: times(list.length), prices: list };
      const held = dollarCostAveraging(series, { cash: 1_000, orders, everyMs: DAY }).values;
      const last = list.at(-1)!;
      expect(held[0]).toBe(1_000);
      expect(held.at(-1)).toSatisfy((value: number) =>
        value <= 1_000 * Math.max(1, last / Math.min(...list)) * (1 + 1e-9)
          && value >= 1_000 * Math.min(1, last / Math.max(...list)) * (1 - 1e-9));
      expect(dollarCostAveraging(series, { cash: 1_000, orders: 1, everyMs: DAY }))
        .toStrictEqual(buyAndHold(series, { cash: 1_000 }));
    }));
  });

  it('refuse an invalid price', () => {
    expect(() => buyAndHold({ times: times(2), prices: [10, 0] }, { cash: 1 })).toThrow(/price/);
  });
});
