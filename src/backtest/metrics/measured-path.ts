import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import { DAY_MS, equalBars } from './bars.ts';
import type { CadenceBars } from './cadence.ts';
import { cadenceBars } from './cadence.ts';
import type { EquitySeries } from './equity-series.ts';
import { assertSeries, yearsOf } from './equity-series.ts';
import { compounded, simpleReturns } from './returns.ts';

/** What figures are wanted of: equity over time, or returns of equal periods. */
export type MeasuredSeries = EquityInput | ReturnInput;

export interface EquityInput extends EquitySeries {
  readonly kind: 'equity';
  /** Given, each step is a period, and there are so many a year; left out, the series is brought to equal bars by time. */
  readonly periodsPerYear?: number | undefined;
  /** Whether rows that are coarser than a day, or come on weekdays alone, are periods of their own; false by default. */
  readonly ownCadence?: boolean | undefined;
}

export interface ReturnInput {
  readonly kind: 'returns';
  /** Fractions per period. */
  readonly returns: readonly number[];
  /** Left out, nothing can be said by the year. */
  readonly periodsPerYear?: number | undefined;
  /** When each period ends. */
  readonly times?: readonly Millis[] | undefined;
}

/** A series made ready to be measured. */
export interface MeasuredPath {
  /** Every point there is, the first included. */
  readonly points: readonly number[];
  /** Returns when a point was: ISO 8601, the number of its period where no times are known, null before the first of them. */
  readonly when: (point: number) => string | number | null;
  /** At equal distances. */
  readonly bars: readonly number[];
  /** Of the bars; undefined where one begins at nothing or less. */
  readonly returns: readonly number[] | undefined;
  /** Undefined where periods have no fixed length, as months. */
  readonly barMs: Millis | undefined;
  /** For people: "a day"; undefined where the periods are taken as they are. */
  readonly barName: string | undefined;
  readonly perYear: number | undefined;
  readonly years: number | undefined;
  /** The share of bars that hold a point of their own. */
  readonly coverage: number;
  /** The points by time, where they have one. */
  readonly series: EquitySeries | undefined;
}

/** Returns a series as what figures are computed from. */
export function measuredPath(series: MeasuredSeries): MeasuredPath {
  return series.kind === 'equity' ? pathOfEquity(series) : pathOfReturns(series);
}

function pathOfEquity(series: EquityInput): MeasuredPath {
  assertSeries(series);
  const { times, values, periodsPerYear, ownCadence = false } = series;
  const common = { points: values, when: (point: number) => isoOf(times[point]!), years: yearsOf(series), series };
  if (periodsPerYear !== undefined) {
    return { ...common, bars: values, returns: simpleReturns(values), barMs: undefined, barName: undefined, perYear: periodsPerYear, coverage: 1 };
  }
  const { values: bars, barMs, barName, perYear, coverage } = (ownCadence ? cadenceBars(series) : undefined) ?? namedBars(series);
  return { ...common, bars, returns: simpleReturns(bars), barMs, barName, perYear, coverage };
}

function namedBars(series: EquityInput): CadenceBars {
  const bars = equalBars(series);
  return { ...bars, barName: bars.barMs === DAY_MS ? 'a day' : 'an hour' };
}

function pathOfReturns({ returns, periodsPerYear, times }: ReturnInput): MeasuredPath {
  assert(times === undefined || times.length === returns.length, 'each return has a time, or none has');
  const points = compounded(returns);
  return {
    points, bars: points, returns, coverage: 1, barMs: undefined, barName: undefined, series: undefined,
    when: (point) => (times === undefined ? point : point === 0 ? null : isoOf(times[point - 1]!)),
    perYear: periodsPerYear,
    years: periodsPerYear === undefined ? undefined : returns.length / periodsPerYear,
  };
}

function isoOf(at: Millis): string {
  return new Date(at).toISOString();
}
