import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import {
  holdingTimes, kellyFraction, longestStreaks, reasonName, systemQuality, tradeGroups, tradeOrders,
} from '../../../src/research/metrics/trade-statistics.ts';

const trade = (profit: number, from = 0, to = 0) => ({ profit, entryValue: 1_000, openedAt: from, closedAt: to });

/** The deepest fall of 200 with these results, by all peaks of all beginnings. */
function fallOf(order: readonly number[]): number {
  const equity = order.reduce<number[]>((all, profit) => [...all, all.at(-1)! + profit], [200]);
  return Math.max(...equity.map((value, i) => 1 - value / Math.max(...equity.slice(0, i + 1))));
}

describe('holding times', () => {
  it('are mean, median and extremes, apart for those won and lost', () => {
    // 10, 20, 60 and 110: the sum is 200, the middle lies between 20 and 60.
    expect(holdingTimes([trade(5, 0, 10), trade(-5, 5, 25), trade(5, 0, 60), trade(0, 0, 110)])).toEqual({
      mean: 50, median: 40, longest: 110, shortest: 10, winners: 35, losers: 20,
    });
  });

  it('are undefined without trades', () => {
    expect(holdingTimes([])).toEqual({
      mean: undefined, median: undefined, longest: undefined, shortest: undefined, winners: undefined,
      losers: undefined,
    });
  });
});

describe('streaks', () => {
  it('are the longest rows of gains and of losses, and end at a result of 0', () => {
    expect(longestStreaks([1, 2, -1, 3, 4, 5, 0, 6, -1, -1])).toEqual({ winning: 3, losing: 2 });
    expect(longestStreaks([])).toEqual({ winning: 0, losing: 0 });
  });
});

describe('the system quality number', () => {
  it('is √n · mean / standard deviation, worked manually', () => {
    // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 9+1+1+1+0+0+4+16 = 32, s = √(32/7) = 2.13809.
    // √8 · 5 / 2.13809 = 6.6144.
    expect(systemQuality([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(Math.sqrt(8) * 5 / Math.sqrt(32 / 7), 12);
    expect(systemQuality([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(6.6144, 4);
  });

  it('has no meaning for one trade, or for equal ones', () => {
    expect(systemQuality([5])).toBeUndefined();
    expect(systemQuality([5, 5, 5])).toBeUndefined();
  });
});

describe('the Kelly fraction', () => {
  it.each([
    // E. Thorp, "The Kelly Criterion in Blackjack, Sports Betting, and the Stock Market" (2006): at even money p - q.
    ['at even money with 53 of 100 won: p - q = 0.06', 53, 100, 47, -100, 0.06],
    // The same source: at b to 1 it is (b·p - q) / b; here (2 · 0.5 - 0.5) / 2.
    ['at 2 to 1 with half of all won: 0.25', 5, 200, 5, -100, 0.25],
    ['of a losing game, below 0: 0.4 - 0.6 = -0.2', 4, 100, 6, -100, -0.2],
  ])('%s', (_, wins, win, losses, loss, expected) => {
    const trades = [...Array<number>(wins).fill(win), ...Array<number>(losses).fill(loss)]
      .map((profit) => trade(profit));
    expect(kellyFraction(trades)).toBeCloseTo(expected, 12);
  });

  it('has no meaning unless trades were won and lost', () => {
    expect(kellyFraction([trade(5)])).toBeUndefined();
    expect(kellyFraction([])).toBeUndefined();
  });
});

describe('groups of trades', () => {
  it('stand by the number of their trades, and the rarest share one group', () => {
    const names = Array.from({ length: 30 }, (_, i) => `reason ${String.fromCodePoint(65 + i)}`);
    const groups = tradeGroups([...names, 'often', 'often'], (name) => name);
    expect(groups).toHaveLength(20);
    expect(groups[0]).toEqual({ name: 'often', trades: ['often', 'often'] });
    expect(groups.at(-1)).toMatchObject({ name: 'all others' });
    expect(groups.reduce((sum, { trades }) => sum + trades.length, 0)).toBe(32);
  });

  it('take reasons that differ in their numbers as one', () => {
    expect(reasonName('161.2 is 5 % below the best price')).toBe('… is … % below the best price');
    expect(reasonName('back at the mean: z = -0.31')).toBe('back at the mean: z = …');
    expect(reasonName('at 1.5e-7 of BONK2 at 12:30')).toBe('at … of BONK2 at …');
    expect(reasonName(undefined)).toBe('no reason recorded');
    expect(reasonName('x'.repeat(300))).toHaveLength(80);
  });
});

describe('the order of trades', () => {
  it('leaves the sum as it is, and the drawdown between the best and the worst order', () => {
    const profits = [10, -5, 20, -15, 5, 10, -5, 10, -10, 5];
    const { orders, drawdown, shuffled, resampled } = tradeOrders(profits, 100)!;
    expect(orders).toBe(1_000);
    // 100, 110, 105, 125, 110, 115, 125, 120, 130, 120, 125: the deepest fall is from 125 to 110.
    expect(drawdown).toBeCloseTo(15 / 125, 12);
    // At worst all losses come first: 100 to 65. At least, the largest loss falls from a peak of at most 160.
    expect(shuffled.drawdown.p95).toBeLessThanOrEqual(0.35);
    expect(shuffled.drawdown.p5).toBeGreaterThanOrEqual(15 / 160);
    expect(resampled.profit.p5).toBeLessThan(25);
    expect(resampled.profit.p95).toBeGreaterThan(25);
  });

  it('is drawn as an independent implementation with sorted random keys draws it', () => {
    const random = seededRandom('another stream');
    const profits = Array.from({ length: 40 }, (_, i) => ((i * 7) % 11) - 4.5);
    const falls = Array.from({ length: 2_000 }, () => fallOf(profits.map((profit) => ({ profit, key: random() }))
      .toSorted((a, b) => a.key - b.key).map(({ profit }) => profit))).toSorted((a, b) => a - b);
    const { shuffled, drawdown } = tradeOrders(profits, 200)!;
    expect(drawdown).toBeCloseTo(fallOf(profits), 12);
    // Two samples of one distribution: their medians differ by chance alone.
    expect(Math.abs(shuffled.drawdown.p50 - falls[1_000]!)).toBeLessThan(0.005);
    expect(Math.abs(shuffled.drawdown.p95 - falls[1_900]!)).toBeLessThan(0.012);
  });

  it('has the mean and the spread of drawing with replacement, by the central limit theorem', () => {
    const profits = Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? 3 : -2));
    // Mean 400 · 0.5 = 200, standard deviation 2.5 · √400 = 50: 5 % lie below 200 - 1.645 · 50 = 118.
    const { profit, drawdown } = tradeOrders(profits, 10_000)!.resampled;
    expect(Math.abs(profit.p50 - 200)).toBeLessThan(10);
    expect(Math.abs(profit.p5 - 117.8)).toBeLessThan(15);
    expect(drawdown.p5).toBeGreaterThan(0);
  });

  it('is the same at each call, and missing where nothing can be drawn', () => {
    expect(tradeOrders([1, -1, 2], 10)).toEqual(tradeOrders([1, -1, 2], 10));
    expect(tradeOrders([1], 10)).toBeUndefined();
    expect(tradeOrders([1, 2], 0)).toBeUndefined();
  });

  it('counts a total loss and more as a drawdown above 1', () => {
    expect(tradeOrders([-50, -60, -10], 100)!.drawdown).toBeCloseTo(1.2, 12);
  });
});
