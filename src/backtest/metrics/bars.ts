import type { Millis } from '../../core/time.ts';
import type { EquitySeries } from './equity-series.ts';
import { YEAR_MS } from './equity-series.ts';

const HOUR_MS: Millis = 3_600_000;
export const DAY_MS: Millis = 86_400_000;
const HOURLY_BELOW_MS: Millis = 60 * DAY_MS;

/** Below this share of bars with a point of their own, carried values would make a series look calmer than it was. */
export const ENOUGH_COVERAGE = 0.8;

/** A series at equal distances. */
export interface Bars {
  readonly barMs: Millis;
  /** Of 365.25 days. */
  readonly perYear: number;
  /** When each bar closes; the first is where the series begins. */
  readonly closes: readonly Millis[];
  readonly values: readonly number[];
  /** The share of bars, after the first, that hold a point of their own: 1 where nothing was carried, and where there is no other bar. */
  readonly coverage: number;
}

/**
 * Returns a series as bars of an hour where it is shorter than 60 days and dense enough for that, else of a day, by UTC.
 * A bar finer than the data would be made of carried values alone.
 */
export function equalBars(series: EquitySeries): Bars {
  const { times } = series;
  const short = times.length > 0 && times.at(-1)! - times[0]! < HOURLY_BELOW_MS;
  if (!short) return barsOf(series, DAY_MS);
  const hours = barsOf(series, HOUR_MS);
  return hours.coverage >= ENOUGH_COVERAGE ? hours : barsOf(series, DAY_MS);
}

/**
 * Returns a series at the ends of bars that are whole multiples of `barMs` since the epoch: the last value at or before
 * each end. The value that the series begins with stands first; where nothing else is in its bar, it is that bar's close.
 */
export function barsOf({ times, values }: EquitySeries, barMs: Millis): Bars {
  const closes: Millis[] = [];
  const closing: number[] = [];
  let filled = 0;
  for (let i = 0; i < times.length; i++) {
    const close = Math.ceil(times[i]! / barMs) * barMs;
    const last = closes.at(-1);
    if (last === undefined) {
      const alone = times.length === 1 || Math.ceil(times[1]! / barMs) * barMs > close;
      closes.push(alone ? close : times[0]!);
      closing.push(values[0]!);
    } else if (close === last) {
      closing[closing.length - 1] = values[i]!;
    } else {
      // The bars between hold nothing of their own: the last value is carried over them.
      for (let empty = (Math.floor(last / barMs) + 1) * barMs; empty < close; empty += barMs) {
        closes.push(empty);
        closing.push(closing.at(-1)!);
      }
      closes.push(close);
      closing.push(values[i]!);
      filled += 1;
    }
  }
  return { barMs, perYear: YEAR_MS / barMs, closes, values: closing, coverage: closes.length < 2 ? 1 : filled / (closes.length - 1) };
}
