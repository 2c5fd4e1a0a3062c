import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TradeFill } from '../../../src/research/metrics/round-trips.ts';
import { roundTrips, tradeResults } from '../../../src/research/metrics/round-trips.ts';

const buy = (quantity: bigint, value: number, costs = 0, instrument = 'SOL'): TradeFill =>
  ({ at: 0, instrument, side: 'buy', quantity, value, costs });
const sell = (quantity: bigint, value: number, costs = 0, instrument = 'SOL'): TradeFill =>
  ({ at: 1, instrument, side: 'sell', quantity, value, costs });
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const trips = (...profits: number[]): { profit: number; entryValue: number }[] =>
  profits.map((profit) => ({ profit, entryValue: 1_000 }));

describe('round trips', () => {
  it('gain 2 000 in the textbook example of five purchases and one sale of 500 of 1 500 shares', () => {
    const { trips: pairs, open } = roundTrips([
      buy(200n, 1_600, 200), buy(100n, 1_100, 100), buy(300n, 3_000, 300), buy(400n, 5_500, 500), buy(500n, 2_700, 300),
      sell(500n, 7_500, 300),
    ]);
    expect(pairs.map(({ profit }) => Math.round(profit))).toStrictEqual([1_080, 240, 680]);
    expect(sum(pairs.map(({ profit }) => profit))).toBeCloseTo(2_000, 9);
    expect(open.map(({ quantity }) => quantity)).toStrictEqual([100n, 400n, 500n]);
  });

  it('gain 650 in the example of a broker’s tax pages: 150 sold at 10 of 100 bought at 5 and 100 at 7', () => {
    const { trips: pairs, open } = roundTrips([buy(100n, 500), buy(100n, 700), sell(150n, 1_500)]);
    expect(sum(pairs.map(({ profit }) => profit))).toBeCloseTo(650, 9);
    expect(open).toStrictEqual([{ instrument: 'SOL', at: 0, quantity: 50n, value: 350, costs: 0 }]);
  });

  it('separate instruments, and report sales without a purchase', () => {
    const { trips: pairs, open, unbought } = roundTrips([buy(10n, 100), sell(4n, 80, 0, 'KELP'), sell(15n, 180, 3)]);
    expect(pairs)
      .toMatchObject([{ instrument: 'SOL', quantity: 10n, entryValue: 100, exitValue: 120, costs: 2, profit: 18 }]);
    expect(unbought).toMatchObject([
      { instrument: 'KELP', quantity: 4n, value: 80 }, { instrument: 'SOL', quantity: 5n, value: 60, costs: 1 },
    ]);
    expect(open).toStrictEqual([]);
  });

  it('refuse a fill without a quantity', () => {
    expect(() => roundTrips([buy(0n, 1)])).toThrow(/quantity/);
  });

  const fills = fc.array(fc.record({
    at: fc.constant(0), instrument: fc.constantFrom('SOL', 'KELP'),
    side: fc.constantFrom('buy' as const, 'sell' as const), quantity: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    value: fc.double({ min: 0.01, max: 1e6, noNaN: true }), costs: fc.double({ min: 0, max: 100, noNaN: true }),
  }), { maxLength: 60 });

  it('preserve quantities exactly, and money and costs up to rounding', () => {
    fc.assert(fc.property(fills, (list) => {
      const { trips: pairs, open, unbought } = roundTrips(list);
      for (const instrument of ['SOL', 'KELP']) {
        const total = (of: readonly { instrument: string; quantity: bigint }[]): bigint =>
          of.filter((one) => one.instrument === instrument).reduce((all, { quantity }) => all + quantity, 0n);
        expect(total(pairs) + total(open)).toBe(total(list.filter(({ side }) => side === 'buy')));
        expect(total(pairs) + total(unbought)).toBe(total(list.filter(({ side }) => side === 'sell')));
      }
      const cash = sum(list.map(({ side, value, costs }) => (side === 'sell' ? value : -value) - costs));
      const told = sum(pairs.map(({ profit }) => profit)) - sum(open.map(({ value, costs }) => value + costs))
        + sum(unbought.map(({ value, costs }) => value - costs));
      expect(Math.abs(told - cash))
        .toBeLessThanOrEqual(1e-9 * (1 + sum(list.map(({ value, costs }) => value + costs))));
    }));
  });

  it('close the oldest first', () => {
    fc.assert(fc.property(fills, (list) => {
      const numbered = list.map((fill, at) => ({ ...fill, at }));
      for (const instrument of ['SOL', 'KELP']) {
        const opened = roundTrips(numbered).trips.filter((trip) => trip.instrument === instrument)
          .map(({ openedAt }) => openedAt);
        expect(opened).toStrictEqual(opened.toSorted((a, b) => a - b));
      }
    }));
  });
});

describe('the results of trades', () => {
  it('match the textbook: six wins of 2 400 and four losses of 1 200 make 0.40 per unit of risk', () => {
    expect(tradeResults(trips(400, 400, 400, 400, 400, 400, -300, -300, -300, -300))).toMatchObject({
      winRate: 0.6, profitFactor: 2, expectancy: 120, payoffRatio: expect.closeTo(400 / 300, 12),
      expectancyRatio: expect.closeTo(0.4, 12),
    });
  });

  it.each([
    // proveyouredge.com, "What is trading expectancy", examples A and B, in R.
    [7, 0.8, 3, -2, -0.04],
    [4, 2.5, 6, -1, 0.4],
  ])('of %i wins of %d R and %i losses of %d R are %d R a trade, as published', (wins, win, losses, loss, expected) => {
    const { expectancy, winRate, payoffRatio, expectancyRatio } =
      tradeResults([...trips(...Array<number>(wins).fill(win)), ...trips(...Array<number>(losses).fill(loss))]);
    expect(expectancy).toBeCloseTo(expected, 12);
    expect(payoffRatio! * winRate! - (1 - winRate!)).toBeCloseTo(expectancyRatio!, 12);
  });

  it('leave out even trades, also up to rounding', () => {
    const even = (0.1 + 0.2) - 0.3;
    expect(even).not.toBe(0);
    expect(tradeResults(trips(10, -5, 0, even)))
      .toMatchObject({ wins: 1, losses: 1, breakeven: 2, winRate: 0.5, expectancy: 2.5 });
  });

  it('have no profit factor and payoff without a loss, and a factor of 0 without a win', () => {
    expect(tradeResults(trips(5, 6))).toMatchObject({
      winRate: 1, expectancy: 5.5, profitFactor: undefined, payoffRatio: undefined, expectancyRatio: undefined,
    });
    expect(tradeResults(trips(-5)))
      .toMatchObject({ winRate: 0, expectancy: -5, profitFactor: 0, payoffRatio: undefined, expectancyRatio: -1 });
    for (const none of [trips(), trips(0)]) expect(tradeResults(none))
      .toMatchObject({ winRate: undefined, expectancy: undefined, profitFactor: undefined, payoffRatio: undefined });
  });
});
