import type { Millis } from '../../core/time.ts';
import { assert } from '../../core/assert.ts';

/** Values at rising moments of time, in one currency and net of deposits and withdrawals. */
export interface EquitySeries {
  readonly times: readonly Millis[];
  readonly values: readonly number[];
}

/** A year of 365.25 days. */
export const YEAR_MS: Millis = 365.25 * 86_400_000;

/** Returns the years between the first and the last point; 0 for fewer than two points. */
export function yearsOf({ times }: EquitySeries): number {
  return times.length < 2 ? 0 : (times.at(-1)! - times[0]!) / YEAR_MS;
}

/** Throws on an invalid series: different lengths, a value that is no number, times that do not rise. */
export function assertSeries({ times, values }: EquitySeries): void {
  assert(times.length === values.length, 'a series has a value for each time');
  for (let i = 0; i < times.length; i++) {
    assert(Number.isFinite(values[i]), () => `the value of a series is a number, got ${values[i]} at ${times[i]}`);
    assert(i === 0 || times[i]! > times[i - 1]!, () =>
      `the times of a series rise, got ${times[i]} after ${times[i - 1]}`);
  }
}

const HOUR_MS: Millis = 3_600_000;
export const DAY_MS: Millis = 86_400_000;
const HOURLY_BELOW_MS: Millis = 60 * DAY_MS;

/** With a smaller share of bars that have their own point, carried values would understate the risk. */
export const ENOUGH_COVERAGE = 0.8;

/** A series at equal distances. */
export interface Bars {
  readonly barMs: Millis;
  /** Bars in a year of 365.25 days. */
  readonly perYear: number;
  /** The close of each bar; the first is the beginning of the series. */
  readonly closes: readonly Millis[];
  readonly values: readonly number[];
  /** The share of bars after the first that have their own point; 1 without other bars. */
  readonly coverage: number;
}

/**
 * Returns a series as hourly bars when it is shorter than 60 days and dense enough, otherwise as daily bars, in UTC.
 * Bars finer than the data would consist of carried values alone.
 */
export function equalBars(series: EquitySeries): Bars {
  const { times } = series;
  const short = times.length > 0 && times.at(-1)! - times[0]! < HOURLY_BELOW_MS;
  if (!short) return barsOf(series, DAY_MS);
  const hours = barsOf(series, HOUR_MS);
  return hours.coverage >= ENOUGH_COVERAGE ? hours : barsOf(series, DAY_MS);
}

/**
 * Returns the last value at or before the end of each bar; bars are whole multiples of `barMs` since the epoch. The
 * first value stands first; it is also the close of its bar when the bar has no other value. An incomplete bar at
 * either end that covers less than half of `barMs` is joined with its neighbour.
 */
export function barsOf({ times, values }: EquitySeries, barMs: Millis): Bars {
  const bars: Bar[] = [];
  for (let i = 0; i < times.length; i++) {
    const close = Math.ceil(times[i]! / barMs) * barMs;
    const last = bars.at(-1);
    if (last === undefined) {
      const alone = times.length === 1 || Math.ceil(times[1]! / barMs) * barMs > close;
      bars.push({ close: alone ? close : times[0]!, value: values[0]!, isOwn: true });
    } else if (close === last.close) {
      last.value = values[i]!;
    } else {
      // Bars without a point carry the last value.
      for (let empty = (Math.floor(last.close / barMs) + 1) * barMs; empty < close; empty += barMs)
        bars.push({ close: empty, value: last.value, isOwn: false });
      bars.push({ close, value: values[i]!, isOwn: true });
    }
  }
  joinSlivers(bars, times.at(-1) ?? 0, barMs);
  return {
    barMs, perYear: YEAR_MS / barMs, closes: bars.map(({ close }) => close), values: bars.map(({ value }) => value),
    coverage: bars.length < 2 ? 1 : bars.filter(({ isOwn }, i) => i > 0 && isOwn).length / (bars.length - 1),
  };
}

interface Bar {
  readonly close: Millis;
  value: number;
  /** Whether it has its own point. */
  isOwn: boolean;
}

/** A single return stays, however short. */
function joinSlivers(bars: Bar[], lastAt: Millis, barMs: Millis): void {
  if (bars.length > 2 && bars[1]!.close - bars[0]!.close < barMs / 2) {
    const [sliver] = bars.splice(1, 1);
    bars[1]!.isOwn ||= sliver!.isOwn;
  }
  if (bars.length > 2 && lastAt - bars.at(-2)!.close < barMs / 2) {
    const { value, isOwn } = bars.pop()!;
    const end = bars.at(-1)!;
    end.value = value;
    end.isOwn ||= isOwn;
  }
}
