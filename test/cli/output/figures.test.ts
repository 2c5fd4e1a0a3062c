import { describe, expect, it } from 'vitest';
import { count, instant, microUsd, percent, shortened, usd } from '../../../src/cli/output/figures.ts';

describe('figures as text', () => {
  it.each([
    [182.4, '$182.400'], [0.00001234567, '$0.0000123457'], [42_526_000.4, '$42,526,000'], [0, '$0'],
    [-1_234.5, '-$1,235'], [undefined, ''],
  ] as const)(
    'show %s dollars as "%s"', (value, text) => { expect(usd(value)).toBe(text); });

  it.each([
    [1_250_000n, '$1.25'], [0n, '$0.00'], [-1n, '-$0.000001'], [12_345_678_900_000n, '$12,345,678.90'], [undefined, ''],
  ] as const)(
    'show %s millionths of a dollar as "%s"', (value, text) => { expect(microUsd(value)).toBe(text); });

  it('group thousands, mark percents, and shorten addresses to their ends', () => {
    expect(count(3_912_440)).toBe('3,912,440');
    expect(count(2n ** 64n)).toBe('18,446,744,073,709,551,616');
    expect(percent(12.5)).toBe('12.50 %');
    expect(shortened('So11111111111111111111111111111111111111112')).toBe('So11…1112');
  });

  it('show instants in UTC, and no impossible ones', () => {
    expect(instant(Date.UTC(2026, 10, 21, 19, 31, 59))).toBe('2026-11-21 19:31');
    expect(instant(Number.NaN)).toBe('');
    expect(instant(9e15)).toBe('');
  });
});
