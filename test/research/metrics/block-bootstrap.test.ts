import { describe, expect, it } from 'vitest';
import { bootstrapInterval } from '../../../src/research/metrics/sharpe-confidence.ts';
import { deviation, mean } from '../../../src/research/metrics/statistics.ts';
import { sharpe } from '../../../src/research/metrics/return-statistics.ts';
import { normal, seededRandom } from '../../../src/core/random.ts';

function persistent(length: number, persistence: number, seed: string): number[] {
  const random = seededRandom(seed);
  let last = 0;
  return Array.from({ length }, () => (last = persistence * last + normal(random)));
}

describe('an interval by resampling', () => {
  it('depends on the seed only', () => {
    const returns = persistent(200, 0, 'a');
    const interval = (seed: number): unknown => bootstrapInterval(returns, sharpe, { random: seededRandom(seed) });
    expect(interval(1)).toStrictEqual(interval(1));
    expect(interval(1)).not.toStrictEqual(interval(2));
  });

  it('matches theory for the mean of independent numbers', () => {
    const returns = persistent(400, 0, 'b');
    const { low, high } =
      bootstrapInterval(returns, mean, { random: seededRandom(3), resamples: 2_000, meanBlock: 1 })!;
    const width = (2 * 1.96 * deviation(returns)!) / Math.sqrt(returns.length);
    expect((high - low) / width).toBeGreaterThan(0.9);
    expect((high - low) / width).toBeLessThan(1.1);
    expect((low + high) / 2).toBeCloseTo(mean(returns), 1);
  });

  it('is wider for autocorrelated numbers, unlike with single draws', () => {
    const returns = persistent(1_000, 0.7, 'c');
    const width = (meanBlock: number): number => {
      const { low, high } = bootstrapInterval(returns, mean, { random: seededRandom(4), meanBlock })!;
      return high - low;
    };
    // Theory: the variance of the mean is (1 + 0.7) / (1 - 0.7) times that of independent numbers.
    expect(width(40) / width(1)).toBeGreaterThan(1.8);
    expect(width(40) / width(1)).toBeLessThan(2.8);
  });

  it('draws consecutive blocks that wrap at the end', () => {
    const returns = [1, 2, 3, 4, 5];
    const seen = new Set<string>();
    bootstrapInterval(returns, (resample) => { seen.add(resample.join('')); return 0; }, {
      random: seededRandom(5), meanBlock: Number.POSITIVE_INFINITY,
    });
    expect([...seen].toSorted()).toStrictEqual(['12345', '23451', '34512', '45123', '51234']);
  });

  it('issue 13.10: is undefined without a width', () => {
    expect(bootstrapInterval([1, 2, 3, 4, 5], () => 7, { random: seededRandom(1) })).toBeUndefined();
    // Of two returns every resample that has a Sharpe ratio has the same one.
    expect(bootstrapInterval([0.1, -0.05], sharpe, { random: seededRandom(1), meanBlock: Number.POSITIVE_INFINITY }))
      .toBeUndefined();
  });

  it('is undefined for one number, or for an undefined figure', () => {
    expect([
      bootstrapInterval([1], mean, { random: seededRandom(1) }),
      bootstrapInterval([1, 1, 1], sharpe, { random: seededRandom(1) }),
    ]).toStrictEqual([undefined, undefined]);
  });
});
