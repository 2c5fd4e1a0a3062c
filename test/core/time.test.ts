import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration, roughDuration, shortDuration } from '../../src/core/time.ts';

describe('a duration', () => {
  it.each([
    ['250ms', 250], ['5s', 5_000], ['1m', 60_000], ['1h30m', 5_400_000], ['2d', 172_800_000], ['1.5s', 1_500],
    ['1m30ms', 60_030], ['1.001s', 1_001], ['0.07h', 252_000], ['4.35s', 4_350],
  ])('reads "%s" as %i ms', (text, span) => {
    expect(parseDuration(text)).toBe(span);
  });

  it.each([
    '', '5', 's', '-5s', '+5s', '5 s', ' 5s', '5s ', '1e3s', '5sec', '0s', '0.5ms', '1.s', '.5s', '5S', '1h 30m',
    '99999999999999d', 'Infinityms',
  ])(
    'refuses "%s"', (text) => {
      expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }) as Error);
    });

  it('reads every whole number of milliseconds written as seconds', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 10_000_000 }), (span) => {
      expect(parseDuration(`${Math.floor(span / 1_000)}.${String(span % 1_000).padStart(3, '0')}s`)).toBe(span);
    }));
  });

  it('survives writing and reading', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (span) => {
      expect(parseDuration(formatDuration(span))).toBe(span);
    }));
  });

  it('is rounded up for people, so that the real span is never longer', () => {
    expect(
      [0, 0.4, 250, 999.5, 1_000, 1_201, 9_901, 10_001, 59_001, 3_599_001, 3_600_001, 90_061_001].map(roughDuration),
    ).toEqual(
      ['0s', '1ms', '250ms', '1s', '1s', '1.3s', '10s', '11s', '1m', '1h', '1h1m', '1d1h2m']);
    fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (span) => {
      const told = parseDuration(roughDuration(span));
      expect(told).toBeGreaterThanOrEqual(span);
      expect(told).toBeLessThan(span * 1.1);
    }));
  });

  it('is written in the shortest form', () => {
    expect([0, 250, 10_000, 5_400_000, 90_061_001].map(formatDuration))
      .toEqual(['0s', '250ms', '10s', '1h30m', '1d1h1m1s1ms']);
  });
});

describe('a span for people', () => {
  it.each([
    [2_592_000_294, '30d'], [172_800_262, '2d'], [97_200_000, '1d3h'], [86_399_999, '1d'], [5_400_000, '1h30m'],
    [90_400, '1m30s'], [59_960, '1m'], [13_000, '13s'], [1_449, '1.4s'], [250, '250ms'], [0.4, '0s'],
  ])('says %d ms in its two largest units: %s', (span, text) => {
    expect(shortDuration(span)).toBe(text);
  });
});
