import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';

/** What something was worth at moments of time, in one currency and net of what was paid in or out; times rise strictly. */
export interface EquitySeries {
  readonly times: readonly Millis[];
  readonly values: readonly number[];
}

/** A year of 365.25 days. */
export const YEAR_MS: Millis = 365.25 * 86_400_000;

/** Returns the years between the first and the last point, 0 where there are fewer than two. */
export function yearsOf({ times }: EquitySeries): number {
  return times.length < 2 ? 0 : (times.at(-1)! - times[0]!) / YEAR_MS;
}

/** Throws where a series is none: lengths that differ, a value that is no number, times that do not rise. */
export function assertSeries({ times, values }: EquitySeries): void {
  assert(times.length === values.length, 'a series has a value for each time');
  for (let i = 0; i < times.length; i++) {
    assert(Number.isFinite(values[i]), () => `the value of a series is a number, got ${values[i]} at ${times[i]}`);
    assert(i === 0 || times[i]! > times[i - 1]!, () => `the times of a series rise, got ${times[i]} after ${times[i - 1]}`);
  }
}
