import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeAxis, valueAxis } from './axis.ts';

const texts = (axis: ReturnType<typeof valueAxis>): string[] => axis!.ticks.map(({ text }) => text);
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const at = (text: string): number => Date.parse(`${text}Z`);

describe('an axis of values', () => {
  it('ends with ticks, contains all values, and labels ticks with the needed precision', () => {
    fc.assert(fc.property(fc.array(
      fc.double({ min: -1e12, max: 1e12, noNaN: true }).map((value) => (Math.abs(value) < 1e-9 ? 0 : value)),
      { minLength: 1, maxLength: 20 },
    ), fc.constantFrom('amount' as const, 'share' as const, 'ratio' as const), (values, kind) => {
      const { low, high, ticks } = valueAxis(values, { kind })!;
      expect(low).toBeLessThan(high);
      expect([ticks[0]!.value, ticks.at(-1)!.value]).toEqual([low, high]);
      const room = (high - low) * 1e-6;
      for (const value of values) expect(value >= low - room && value <= high + room).toBe(true);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(8);
      expect(new Set(texts({ low, high, ticks })).size).toBe(ticks.length);
    }));
  });

  it('has round ticks', () => {
    expect(texts(valueAxis([2_917, 3_042], { kind: 'amount' }))).toEqual(['2,900', '2,950', '3,000', '3,050']);
    expect(texts(valueAxis([-0.0327, 0], { kind: 'share' }))).toEqual(['-4 %', '-3 %', '-2 %', '-1 %', '0 %']);
    expect(texts(valueAxis([0.00000123, 0.00000187], { kind: 'amount' })))
      .toEqual(['0.0000012', '0.0000014', '0.0000016', '0.0000018', '0.0000020']);
    expect(texts(valueAxis([0, 1], { kind: 'count', include: [0] }))).toEqual(['0', '1']);
    expect(texts(valueAxis([0, 11], { kind: 'count', include: [0], steps: 5 }))).toEqual(['0', '5', '10', '15']);
    expect(texts(valueAxis([0, 110], { kind: 'count', include: [0], steps: 5 })))
      .toEqual(['0', '25', '50', '75', '100', '125']);
    expect(texts(valueAxis([0, 9], { kind: 'ratio' }))).toEqual(['0.0', '2.5', '5.0', '7.5', '10.0']);
  });

  it('contains the requested values, and leaves room around a constant value', () => {
    expect(valueAxis([5, 6], { kind: 'amount', include: [0] })).toMatchObject({ low: 0 });
    expect(valueAxis([100, 100, null], { kind: 'amount' })).toMatchObject({ low: 99, high: 101 });
    expect(valueAxis([0], { kind: 'share' })).toMatchObject({ low: 0, high: 0.01 });
    expect(valueAxis([999_999_999_999.9962, 999_999_999_999.997], { kind: 'share' }))
      .toMatchObject({ low: 9.9e11, high: 1.01e12 });
    expect(valueAxis([null], { kind: 'amount', include: [0, 1] })).toBeUndefined();
  });
});

describe('an axis of time', () => {
  it('has a limited number of ticks at round times within the span, and fewer on a phone', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1_000, max: 3e11 }), (low, span) => {
      const { ticks } = timeAxis(low, low + span);
      // A tick at the Unix epoch may be -0.
      const values = ticks.map(({ value }) => value + 0);
      expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
      for (const value of values) expect(value >= low - span * 0.01 && value <= low + span * 1.01).toBe(true);
      expect(ticks.length).toBeLessThanOrEqual(10);
      expect(ticks.filter(({ isMinor }) => !isMinor).length).toBeLessThanOrEqual(6);
    }));
  });

  it.each([
    ['ten minutes', '2026-01-20T13:01:30', 10 * MINUTE, ['13:02', '13:04', '13:06', '13:08', '13:10']],
    [
      'half a minute', '2026-01-20T13:01:30', MINUTE / 2,
      ['13:01:30', '13:01:35', '13:01:40', '13:01:45', '13:01:50', '13:01:55', '13:02:00'],
    ],
    ['a day and a half', '2026-01-20T20:00:00', 1.5 * DAY, ['Jan 21', '06:00', '12:00', '18:00', 'Jan 22', '06:00']],
    ['thirty days', '2026-01-01T00:00:00.019', 30 * DAY, ['Jan 1', 'Jan 6', 'Jan 11', 'Jan 16', 'Jan 21', 'Jan 26']],
    [
      'into the next month', '2026-01-25T00:00:00', 15 * DAY,
      ['Jan 25', 'Jan 27', 'Jan 29', 'Feb 1', 'Feb 3', 'Feb 5', 'Feb 7', 'Feb 9'],
    ],
    [
      'half a year', '2025-11-10T00:00:00', 180 * DAY,
      ['Dec 2025', 'Jan 2026', 'Feb 2026', 'Mar 2026', 'Apr 2026', 'May 2026'],
    ],
  ])('labels %s with days or times of day', (_, low, span, expected) => {
    expect(timeAxis(at(low), at(low) + span).ticks.map(({ text }) => text)).toEqual(expected);
  });
});
