import { expect, it } from 'vitest';
import { progressText } from '../../../src/cli/output/progress.ts';

it('a progress line shows the share done, the rate and the time left', () => {
  expect(progressText(1_250_000, 5_000_000, { what: 'events', elapsedMs: 2_500 }))
    .toBe('1,250,000 of 5,000,000 events, 25 %, 500,000 a second, 7.5s left');
  expect(progressText(3, 24, { what: 'trials', elapsedMs: 6_000 }))
    .toBe('3 of 24 trials, 12 %, 0.50 a second, 42s left');
  expect(progressText(24, 24, { what: 'trials', elapsedMs: 6_000 }))
    .toBe('24 of 24 trials, 100 %, 4.0 a second, 0s left');
});

it('a progress line shows no time left in its first two seconds, and its rate excludes earlier work', () => {
  expect(progressText(500, 7_776_000, { what: 'events', elapsedMs: 540 })).toBe('500 of 7,776,000 events, 0 %');
  expect(progressText(500_000, 7_776_000, { what: 'events', elapsedMs: 1_999 }))
    .toBe('500,000 of 7,776,000 events, 6 %');
  expect(progressText(14, 24, { what: 'trials', elapsedMs: 8_000, before: 12 }))
    .toBe('14 of 24 trials, 58 %, 0.25 a second, 40s left');
  expect(progressText(12, 24, { what: 'trials', elapsedMs: 8_000, before: 12 })).toBe('12 of 24 trials, 50 %');
});

it('a progress line shows no time left before any progress, or without work', () => {
  expect(progressText(0, 24, { what: 'trials', elapsedMs: 6_000 })).toBe('0 of 24 trials, 0 %');
  expect(progressText(0, 0, { what: 'events', elapsedMs: 0 })).toBe('0 of 0 events, 0 %');
});
