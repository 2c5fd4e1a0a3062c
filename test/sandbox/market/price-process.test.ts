import { describe, expect, it } from 'vitest';
import { createRandomWalk, createSwingingPrice } from '../../../src/sandbox/market/price-process.ts';

const SLOTS_PER_MINUTE = 150;

function path(options: { seed: string; slots: number; volatility?: number }): number[] {
  const process = createSwingingPrice({ seed: options.seed, start: 180, volatility: options.volatility ?? 1 });
  return Array.from({ length: options.slots }, () => {
    process.step();
    return process.value;
  });
}

describe('a price of the sandbox', () => {
  it('is the same for the same seed and another for another', () => {
    expect(path({ seed: 'a', slots: 500 })).toEqual(path({ seed: 'a', slots: 500 }));
    expect(path({ seed: 'a', slots: 500 })).not.toEqual(path({ seed: 'b', slots: 500 }));
  });

  it('moves 0.3 to 1 percent within a minute', () => {
    const prices = path({ seed: 'minute', slots: SLOTS_PER_MINUTE * 400 });
    const moves = prices.slice(SLOTS_PER_MINUTE).map((price, i) => Math.log(price / prices[i]!));
    const deviation = Math.sqrt(moves.reduce((sum, move) => sum + move * move, 0) / moves.length);
    expect(deviation).toBeGreaterThan(0.003);
    expect(deviation).toBeLessThan(0.01);
  });

  it('comes back after a dip, so that buying dips pays', () => {
    const prices = path({ seed: 'dip', slots: 200_000 });
    const gains: number[] = [];
    const window = 600;
    for (let i = window; i < prices.length - SLOTS_PER_MINUTE; i += SLOTS_PER_MINUTE) {
      const past = prices.slice(i - window, i);
      const mean = past.reduce((sum, price) => sum + price, 0) / window;
      if (prices[i]! < mean * 0.993) gains.push(prices[i + SLOTS_PER_MINUTE]! / prices[i]! - 1);
    }
    expect(gains.length).toBeGreaterThan(30);
    const meanGain = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    // Twice what a round trip through the cheapest pools costs.
    expect(meanGain).toBeGreaterThan(0.002);
  });

  it('stays near home over weeks', () => {
    const process = createSwingingPrice({ seed: 'weeks', start: 180, volatility: 1 });
    for (let i = 0; i < 2_000_000; i++) process.step();
    expect(process.value).toBeGreaterThan(140);
    expect(process.value).toBeLessThan(230);
  });

  it('goes where the operator puts it and swings around there', () => {
    const process = createSwingingPrice({ seed: 'set', start: 180, volatility: 1 });
    process.set(90);
    expect(process.value).toBe(90);
    for (let i = 0; i < SLOTS_PER_MINUTE; i++) process.step();
    expect(process.value).toBeGreaterThan(80);
    expect(process.value).toBeLessThan(100);
  });
});

/** Where many walks stand after so many slots. */
function endsAfter(slots: number): number[] {
  return Array.from({ length: 4_000 }, (_, index) => {
    const walk = createRandomWalk({ seed: `walk ${index}`, start: 1, volatility: 1 });
    walk.leap(slots);
    return walk.value;
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('a random walk', () => {
  it('is worth its present price at any later time, on average', () => {
    const month = endsAfter(30 * 216_000);
    const spread = Math.sqrt(mean(month.map((value) => Math.log(value) ** 2)));
    // Four standard errors of the mean.
    expect(Math.abs(mean(month) - 1)).toBeLessThan((4 * spread) / Math.sqrt(month.length));
  });

  it('moves 80 % a year at volatility 1, in proportion to it, and not at all at 0', () => {
    const year = endsAfter(365.25 * 216_000).map(Math.log);
    const deviation = Math.sqrt(mean(year.map((value) => (value - mean(year)) ** 2)));
    expect(deviation).toBeGreaterThan(0.76);
    expect(deviation).toBeLessThan(0.84);
    const peg = createRandomWalk({ seed: 'peg', start: 1, volatility: 0 });
    for (let i = 0; i < 1_000; i++) peg.step();
    expect(peg.value).toBe(1);
  });

  it('shows nothing of its next move in its last', () => {
    const walk = createRandomWalk({ seed: 'memory', start: 100, volatility: 1 });
    const moves = Array.from({ length: 20_000 }, () => {
      const before = walk.value;
      walk.step();
      return Math.log(walk.value / before);
    });
    const covariance = mean(moves.slice(1).map((move, index) => move * moves[index]!));
    const correlation = covariance / mean(moves.map((move) => move * move));
    expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(moves.length));
  });
});
