import { describe, expect, it } from 'vitest';
import { createStochasticVolatility } from '../../../src/sandbox/market/price-process.ts';
import { SLOTS_PER_MINUTE } from '../../../src/sandbox/market/slot-counts.ts';

const DAYS = 40;
const MINUTES = DAYS * 1_440;
const MINUTES_PER_YEAR = 365.25 * 1_440;
const SEEDS = Array.from({ length: 12 }, (_, index) => `market ${index}`);

/** Closes of minutes. */
function closesOf(seed: string, volatility = 1): number[] {
  const price = createStochasticVolatility({ seed, start: 100, volatility });
  return Array.from({ length: MINUTES }, () => {
    price.leap(SLOTS_PER_MINUTE);
    return price.value;
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function moves(closes: readonly number[]): number[] {
  return closes.slice(1).map((close, index) => Math.log(close / closes[index]!));
}

function correlation(values: readonly number[], lag: number): number {
  const centre = mean(values);
  const deviations = values.map((value) => value - centre);
  return mean(deviations.slice(lag).map((value, index) => value * deviations[index]!))
    / mean(deviations.map((value) => value * value));
}

const markets = SEEDS.map((seed) => closesOf(seed));
const returns = markets.map(moves);

/**
 * What a buyer of dips gains on average with each purchase, costs apart: bought two deviations under the mean of a
 * window, sold at the mean.
 */
function dipGains(closes: readonly number[], window: number): number[] {
  const gains: number[] = [];
  let [sum, squares] = [0, 0];
  let paid: number | undefined;
  closes.forEach((close, index) => {
    const leaving = index < window ? 0 : closes[index - window]!;
    sum += close - leaving;
    squares += close * close - leaving * leaving;
    if (index < window) return;
    const middle = sum / window;
    const deviation = Math.sqrt(Math.max(0, squares / window - middle * middle));
    if (paid === undefined && close < middle - 2 * deviation) paid = close;
    else if (paid !== undefined && close >= middle) {
      gains.push(close / paid - 1);
      paid = undefined;
    }
  });
  return gains;
}

describe('issue 13.13: a generated price with stochastic volatility', () => {
  it('is the same for the same seed and another for another', () => {
    expect(closesOf('one').slice(0, 100)).toStrictEqual(closesOf('one').slice(0, 100));
    expect(closesOf('one').slice(0, 100)).not.toStrictEqual(closesOf('two').slice(0, 100));
  });

  it('moves by 50 to 150 % a year in each market, by about 80 % over all, in proportion to its volatility', () => {
    const yearly = returns.map((own) => Math.sqrt(mean(own.map((move) => move * move)) * MINUTES_PER_YEAR));
    for (const volatility of yearly) {
      expect(volatility).toBeGreaterThan(0.4);
      expect(volatility).toBeLessThan(1.6);
    }
    expect(mean(yearly)).toBeGreaterThan(0.65);
    expect(mean(yearly)).toBeLessThan(1.0);
    const twice = moves(closesOf(SEEDS[0]!, 2));
    expect(Math.sqrt(mean(twice.map((move) => move * move)) * MINUTES_PER_YEAR) / yearly[0]!).toBeCloseTo(2, 1);
    expect(closesOf('peg', 0).at(-1)).toBe(100);
  });

  it('has volatility that clusters for hours, and large moves that are more frequent than normal ones', () => {
    for (const own of returns) {
      const sizes = own.map(Math.abs);
      for (const lag of [1, 60, 240]) expect(correlation(sizes, lag)).toBeGreaterThan(0.04);
      expect(mean(own.map((move) => move ** 4)) / mean(own.map((move) => move * move)) ** 2).toBeGreaterThan(5);
    }
  });

  it('tells nothing of the direction of the next move, at any distance from a minute to six hours', () => {
    for (const minutes of [1, 10, 60, 360]) {
      const each = returns.map((_, index) =>
        correlation(moves(markets[index]!.filter((_, at) => at % minutes === 0)), 1));
      // Clusters widen the error of a correlation: the spread between the markets measures it.
      const error = Math.sqrt(mean(each.map((value) => value * value)) / each.length);
      expect(Math.abs(mean(each))).toBeLessThan(4 * error);
      expect(Math.abs(mean(each))).toBeLessThan(0.04);
    }
  });

  it.each([
    20, 120,
  ])('pays a buyer of dips under the mean of %i minutes less than the cheapest round trip costs', (window) => {
    const gains = markets.flatMap((closes) => dipGains(closes, window));
    expect(gains.length).toBeGreaterThan(1_000);
    expect(mean(gains)).toBeLessThan(0.0004);
  });

  it('has trends of a plausible size: the median yearly Sharpe ratio of a month is at most 4', () => {
    const ratios = returns.map((own) =>
      (mean(own) * MINUTES_PER_YEAR) / Math.sqrt(mean(own.map((move) => move * move)) * MINUTES_PER_YEAR))
      .map(Math.abs).sort((a, b) => a - b);
    expect(ratios[Math.floor(ratios.length / 2)]).toBeLessThan(4);
  });
});
