import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { Bars, EquitySeries } from './equity-series.ts';
import { DAY_MS, ENOUGH_COVERAGE, YEAR_MS, assertSeries, barsOf, equalBars, yearsOf } from './equity-series.ts';
import { compounded, simpleReturns } from './return-statistics.ts';
import { medianOf } from '../../core/median.ts';

/** Bars at the distance of a series' own rows. Months and weekdays have no fixed length. */
interface CadenceBars extends Pick<Bars, 'values' | 'perYear' | 'coverage'> {
  readonly barMs: Millis | undefined;
  /** For people: "a month". */
  readonly barName: string;
}

interface Cadence extends Pick<CadenceBars, 'barMs' | 'barName' | 'perYear'> {
  /** How many periods lie between two rows that follow each other. */
  readonly periodsIn: (step: Millis) => number;
  /** Whether a step is a whole number of periods, so far as calendars are regular. */
  readonly fits: (step: Millis) => boolean;
}

const MONTH_MS: Millis = YEAR_MS / 12;
/** A row of each month falls on its first day, its last day, or the weekday nearest to it. */
const MONTH_SLACK_MS: Millis = 4 * DAY_MS;
/** A row of several days may be earlier or later by this share of its period, as a weekly one before a holiday. */
const DAYS_SLACK = 0.2;
const TRADING_DAYS = 252;
const WEEKS = 52;
/** No holidays close an exchange for longer: rows are missing there. */
const LONGEST_HOLIDAYS_MS: Millis = 11 * DAY_MS;
/** Of the steps, so many make a cadence. */
const MOST = 0.8;
const FEWEST_FIXED_STEPS = 3;
/** For rows at no regular distance, the finest first. */
const COARSE: readonly (readonly [barMs: Millis, barName: string, perYear: number])[] = [
  [7 * DAY_MS, 'a week', WEEKS], [MONTH_MS, 'a month', 12], [3 * MONTH_MS, 'a quarter', 4], [YEAR_MS, 'a year', 1],
];

/**
 * Returns a series whose rows are coarser than a day, or come on weekdays alone, at the distance of its rows: each row
 * is the close of its period. Where periods hold no row, the last value is carried over them. Undefined for all other
 * series.
 */
function cadenceBars(series: EquitySeries): CadenceBars | undefined {
  const steps = series.times.slice(1).map((at, i) => at - series.times[i]!);
  const usual = mostFrequent(steps.map((step) => Math.round(step / DAY_MS)));
  if (usual === undefined) return undefined;
  const cadence = usual.value === 1 ? weekdays(series.times, steps) : coarserCadence(steps, usual);
  if (cadence !== undefined) return atRows(series, steps, cadence);
  return medianOf(steps)! >= 1.5 * DAY_MS ? irregularBars(series) : undefined;
}

function atRows(
  { values }: EquitySeries, steps: readonly Millis[], { barMs, barName, perYear, periodsIn }: Cadence,
): CadenceBars {
  const bars = [values[0]!];
  for (const [i, step] of steps.entries()) {
    for (let empty = periodsIn(step); empty > 1; empty--) bars.push(values[i]!);
    bars.push(values[i + 1]!);
  }
  return { values: bars, barMs, barName, perYear, coverage: steps.length / (bars.length - 1) };
}

/** Steps of the same number of days are that many days, though a month may be as long: months differ in length. */
function coarserCadence(steps: readonly Millis[], usual: Frequent): Cadence | undefined {
  const months = mostFrequent(steps.map((step) => Math.round(step / MONTH_MS)))!.value;
  const isFixed = steps.length >= FEWEST_FIXED_STEPS && usual.share >= MOST && months % 12 !== 0;
  const candidates = [
    ...(months > 0 && !isFixed ? [ofMonths(months)] : []),
    ...(usual.value > 1 ? [ofDays(usual.value)] : []),
  ];
  return candidates.find(({ fits }) => steps.filter(fits).length >= MOST * steps.length);
}

function ofMonths(months: number): Cadence {
  const names: Readonly<Record<number, string>> = { 1: 'a month', 3: 'a quarter', 6: 'half a year', 12: 'a year' };
  return {
    barName: names[months] ?? `${months} months`, barMs: undefined, perYear: 12 / months,
    ...spaced(months * MONTH_MS, MONTH_SLACK_MS),
  };
}

function ofDays(days: number): Cadence {
  const perYear = days % 7 === 0 ? (WEEKS * 7) / days : YEAR_MS / (days * DAY_MS);
  const barMs = days * DAY_MS;
  return { barName: days === 7 ? 'a week' : `${days} days`, barMs, perYear, ...spaced(barMs, DAYS_SLACK * barMs) };
}

function spaced(periodMs: Millis, slackMs: Millis): Pick<Cadence, 'periodsIn' | 'fits'> {
  const periodsIn = (step: Millis): number => Math.max(1, Math.round(step / periodMs));
  return { periodsIn, fits: (step) => Math.abs(step - periodsIn(step) * periodMs) <= slackMs };
}

/**
 * Returns the cadence of rows of which none falls on two days of the week beside each other; undefined where they are
 * otherwise.
 */
function weekdays(times: readonly Millis[], steps: readonly Millis[]): Cadence | undefined {
  // Counted from the first row's time of day: midnight of another zone, in summer and winter, is the same day then.
  const used = new Set(times.map((at) => Math.round((at - times[0]!) / DAY_MS) % 7));
  const hasWeekend = [0, 1, 2, 3, 4, 5, 6].some((day) => !used.has(day) && !used.has((day + 1) % 7));
  if (!hasWeekend || steps.every((step) => step < 1.5 * DAY_MS)) return undefined;
  return {
    barName: 'a weekday', barMs: undefined, perYear: TRADING_DAYS,
    periodsIn: (step) => (step <= LONGEST_HOLIDAYS_MS ? 1 : Math.round((step * TRADING_DAYS) / YEAR_MS)),
    fits: () => true,
  };
}

/** The finest bars of which most hold a row; undefined where none are, since rows lie in clusters. */
function irregularBars(series: EquitySeries): CadenceBars | undefined {
  for (const [barMs, barName, perYear] of COARSE) {
    const { values, coverage } = barsOf(series, barMs);
    if (coverage >= ENOUGH_COVERAGE) return { values, coverage, barMs, barName, perYear };
  }
  return undefined;
}

interface Frequent {
  readonly value: number;
  readonly share: number;
}

/** Returns the value that comes most often, the least of several as frequent. */
function mostFrequent(values: readonly number[]): Frequent | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [found] = [...counts].toSorted(([a, often], [b, rarely]) => rarely - often || a - b);
  return found === undefined ? undefined : { value: found[0], share: found[1] / values.length };
}

/** What figures are wanted of: equity over time, or returns of equal periods. */
export type MeasuredSeries = EquityInput | ReturnInput;

export interface EquityInput extends EquitySeries {
  readonly kind: 'equity';
  /**
   * Given, each step is a period, and there are so many a year; left out, the series is brought to equal bars by time.
   */
  readonly periodsPerYear?: number | undefined;
  /**
   * Whether rows that are coarser than a day, or come on weekdays alone, are periods of their own; false by default.
   */
  readonly ownCadence?: boolean | undefined;
}

interface ReturnInput {
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
  /**
   * Returns when a point was: ISO 8601, the number of its period where no times are known, null before the first of
   * them.
   */
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
    return {
      ...common, bars: values, returns: simpleReturns(values), barMs: undefined, barName: undefined,
      perYear: periodsPerYear, coverage: 1,
    };
  }
  const { values: bars, barMs, barName, perYear, coverage } = (ownCadence ? cadenceBars(series) : undefined)
    ?? namedBars(series);
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
