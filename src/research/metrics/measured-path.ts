import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { Bars, EquitySeries } from './equity-series.ts';
import { DAY_MS, ENOUGH_COVERAGE, YEAR_MS, assertSeries, barsOf, equalBars, yearsOf } from './equity-series.ts';
import { compounded, simpleReturns } from './return-statistics.ts';
import { medianOf } from '../../core/median.ts';

/** The input of an assessment: equity over time, or returns of equal periods. */
export type MeasuredSeries = EquityInput | ReturnInput;

interface EquityInput extends EquitySeries {
  readonly kind: 'equity';
  /**
   * If given, each step is a period, with so many periods a year. Otherwise the series is converted to equal bars by
   * time.
   */
  readonly periodsPerYear?: number | undefined;
  /** Whether rows that are coarser than a day, or exist on weekdays only, are periods; false by default. */
  readonly ownCadence?: boolean | undefined;
}

interface ReturnInput {
  readonly kind: 'returns';
  /** Fractions per period. */
  readonly returns: readonly number[];
  /** Left out, no yearly figure is defined. */
  readonly periodsPerYear?: number | undefined;
  /** The end of each period. */
  readonly times?: readonly Millis[] | undefined;
}

/** A series prepared for measuring. */
export interface MeasuredPath {
  /** All points, including the first. */
  readonly points: readonly number[];
  /** Returns the time of a point: ISO 8601; without times the number of its period; null before the first time. */
  readonly when: (point: number) => string | number | null;
  /** Values at equal distances. */
  readonly bars: readonly number[];
  /** Returns of the bars; undefined when a bar begins at 0 or less. */
  readonly returns: readonly number[] | undefined;
  /** Undefined when periods have no fixed length, such as months. */
  readonly barMs: Millis | undefined;
  /** For people: "a day"; undefined when the periods are given. */
  readonly barName: string | undefined;
  readonly perYear: number | undefined;
  readonly years: number | undefined;
  /** The share of bars that have their own point. */
  readonly coverage: number;
  /** The points by time, if they have times. */
  readonly series: EquitySeries | undefined;
}

/** Returns a series prepared for measuring. */
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

/** Bars at the distance of a series' rows. Months and weekdays have no fixed length. */
interface CadenceBars extends Pick<Bars, 'values' | 'perYear' | 'coverage'> {
  readonly barMs: Millis | undefined;
  /** For people: "a month". */
  readonly barName: string;
}

interface Cadence extends Pick<CadenceBars, 'barMs' | 'barName' | 'perYear'> {
  /** Returns the number of periods between two adjacent rows. */
  readonly periodsIn: (step: Millis) => number;
  /** Returns whether a step is a whole number of periods, as far as calendars are regular. */
  readonly fits: (step: Millis) => boolean;
}

const MONTH_MS: Millis = YEAR_MS / 12;
/** A monthly row falls on the first day, the last day, or the nearest weekday. */
const MONTH_SLACK_MS: Millis = 4 * DAY_MS;
/** A row may deviate from its time by this share of its period, for example before a holiday. */
const DAYS_SLACK = 0.2;
const TRADING_DAYS = 252;
const WEEKS = 52;
/** No holidays close an exchange for longer: beyond this, rows are missing. */
const LONGEST_HOLIDAYS_MS: Millis = 11 * DAY_MS;
/** The share of regular steps that makes a cadence. */
const MOST = 0.8;
const FEWEST_FIXED_STEPS = 3;
/** For rows at irregular distances, the finest first. */
const COARSE: readonly (readonly [barMs: Millis, barName: string, perYear: number])[] = [
  [7 * DAY_MS, 'a week', WEEKS], [MONTH_MS, 'a month', 12], [3 * MONTH_MS, 'a quarter', 4], [YEAR_MS, 'a year', 1],
];

/**
 * Returns a series at the distance of its rows when they are coarser than a day or exist on weekdays only. Each row is
 * the close of its period. Periods without a row carry the last value. Undefined for all other series.
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

/** Equal steps are a number of days, even if a month may be as long, because months differ in length. */
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

/** Returns the cadence of rows that skip two adjacent days of each week; undefined for other rows. */
function weekdays(times: readonly Millis[], steps: readonly Millis[]): Cadence | undefined {
  // Counted from the first row's time of day, so that daylight saving time does not shift days.
  const used = new Set(times.map((at) => Math.round((at - times[0]!) / DAY_MS) % 7));
  const hasWeekend = [0, 1, 2, 3, 4, 5, 6].some((day) => !used.has(day) && !used.has((day + 1) % 7));
  if (!hasWeekend || steps.every((step) => step < 1.5 * DAY_MS)) return undefined;
  return {
    barName: 'a weekday', barMs: undefined, perYear: TRADING_DAYS,
    periodsIn: (step) => (step <= LONGEST_HOLIDAYS_MS ? 1 : Math.round((step * TRADING_DAYS) / YEAR_MS)),
    fits: () => true,
  };
}

/** Returns the finest bars of which most have a row; undefined when rows lie in clusters. */
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

/** Returns the most frequent value; of several, the smallest. */
function mostFrequent(values: readonly number[]): Frequent | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [found] = [...counts].toSorted(([a, often], [b, rarely]) => rarely - often || a - b);
  return found === undefined ? undefined : { value: found[0], share: found[1] / values.length };
}
