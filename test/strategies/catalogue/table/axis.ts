import { groupThousands } from '../../../../src/core/text.ts';
import type { ValueKind } from '../../../../src/research/metrics/value-text.ts';
import { fixedText } from '../../../../src/research/metrics/value-text.ts';
import type { Millis } from '../../../../src/core/time.ts';

/** A labelled place on an axis. */
export interface Tick {
  readonly value: number;
  readonly text: string;
  /** Whether the label needs a wide page. */
  readonly isMinor: boolean;
}

/** The range of one side of a chart, with its labels. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly Tick[];
}

const FEWEST_STEPS = 4;

/**
 * Returns an axis with ticks at equal round distances and at both ends. It contains all values, and `include` too.
 * Undefined without a value.
 */
export function valueAxis(values: Iterable<number | null>, { kind, include = [], steps = FEWEST_STEPS }: {
  readonly kind: ValueKind;
  readonly include?: readonly number[] | undefined;
  readonly steps?: number | undefined;
}): Axis | undefined {
  const scale = kind === 'share' ? 100 : 1;
  const unit = kind === 'share' ? ' %' : '';
  const range = rangeOf(values, include, kind);
  if (range === undefined) return undefined;
  const least = ((range.high - range.low) * scale) / steps;
  const step = kind === 'count' ? wholeStep(least) : roundStep(least);
  // The tolerance avoids a further tick where an end differs from a tick only in its last digits.
  const first = Math.floor((range.low * scale) / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil((range.high * scale) / step - 1e-9));
  const decimals = decimalsOf(step);
  const ticks = Array.from({ length: last - first + 1 }, (_, i): Tick => {
    const value = (first + i) * step;
    return { value: value / scale, text: `${groupThousands(fixedText(value, decimals))}${unit}`, isMinor: false };
  });
  return { low: ticks[0]!.value, high: ticks.at(-1)!.value, ticks };
}

/** Returns where a value is on an axis: 0 at the low end, 1 at the high one. */
export function placeOn({ low, high }: Pick<Axis, 'low' | 'high'>, value: number): number {
  return (value - low) / (high - low);
}

/** Returns the next 1, 2, 2.5 or 5 times a power of ten. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}

/** Counts have whole steps. */
function wholeStep(least: number): number {
  const step = Math.max(1, roundStep(least));
  return Number.isInteger(step) ? step : roundStep(step * 1.01);
}

function rangeOf(
  values: Iterable<number | null>, include: readonly number[], kind: ValueKind,
): { readonly low: number; readonly high: number } | undefined {
  let [low, high] = [Infinity, -Infinity];
  const hold = (value: number): void => {
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  for (const value of values) if (value !== null) hold(value);
  if (low > high) return undefined;
  include.forEach(hold);
  // Values that differ only in their last digits count as one value.
  if (high - low > Math.max(Math.abs(low), Math.abs(high)) * 1e-9) return { low, high };
  const room = Math.abs(low) * 0.01 || (kind === 'share' ? 0.01 : 1);
  return { low: low === 0 ? 0 : low - room, high: high + room };
}

function decimalsOf(step: number): number {
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const isQuarter = Math.abs(step * 10 ** places - 2.5) < 1e-6;
  return Math.min(100, isQuarter ? places + 1 : places);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS_MS = [
  ...[1, 2, 5, 10, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  DAY_MS,
];
/** Counted from the first of each month, so that each month begins with a tick. */
const STEPS_DAYS = [2, 5, 10];
const STEPS_MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const MOST_TICKS = 8;
const MOST_NARROW = 4;
const END_ROOM = 0.003;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a time axis in UTC over exactly its span, with ticks at round times. */
export function timeAxis(low: Millis, high: Millis): Axis {
  const span = high - low;
  // A round time that is almost an end of the span gets a tick at that end.
  const room = span * END_ROOM;
  const [first, last] = [low - room, high + room];
  const stepMs = STEPS_MS.find((step) => span / step <= MOST_TICKS);
  const stepDays = STEPS_DAYS.find((days) => span / (days * DAY_MS) <= MOST_TICKS);
  const ticks = stepMs !== undefined ? stepTicks(first, last, stepMs)
    : stepDays !== undefined ? dayTicks(first, last, stepDays) : monthTicks(first, last);
  return { low, high, ticks: ticks.length <= MOST_NARROW ? ticks.map((tick) => ({ ...tick, isMinor: false })) : ticks };
}

function stepTicks(low: Millis, high: Millis, stepMs: Millis): Tick[] {
  const ticks: Tick[] = [];
  for (let at = Math.ceil(low / stepMs) * stepMs; at <= high; at += stepMs) {
    ticks.push({ value: at, text: tickText(at, stepMs), isMinor: Math.round(at / stepMs) % 2 !== 0 });
  }
  return ticks;
}

/** Returns the day at its beginning, else the time of day at the resolution of the steps. */
function tickText(at: Millis, stepMs: Millis): string {
  const date = new Date(at);
  if (at % DAY_MS === 0) return `${MONTHS[date.getUTCMonth()]!} ${date.getUTCDate()}`;
  return date.toISOString().slice(11, stepMs < MINUTE_MS ? 19 : 16);
}

/** The last tick of a month is left out where it would be too close to the first one of the next month. */
function dayTicks(low: Millis, high: Millis, stepDays: number): Tick[] {
  const ticks: Tick[] = [];
  for (let month = monthOf(low); month <= monthOf(high); month++) {
    const [begin, end] = [firstOf(month), firstOf(month + 1)];
    for (let n = 0; begin + (n + 0.5) * stepDays * DAY_MS < end; n++) {
      const value = begin + n * stepDays * DAY_MS;
      if (value >= low && value <= high) ticks.push({ value, text: tickText(value, DAY_MS), isMinor: n % 2 !== 0 });
    }
  }
  return ticks;
}

function monthTicks(low: Millis, high: Millis): Tick[] {
  const [first, last] = [monthOf(low), monthOf(high)];
  const step = STEPS_MONTHS.find((months) => (last - first) / months <= MOST_TICKS) ?? STEPS_MONTHS.at(-1)!;
  const ticks: Tick[] = [];
  for (let month = Math.ceil(first / step) * step; month <= last; month += step) {
    const at = firstOf(month);
    if (at < low) continue;
    ticks.push({
      value: at, text: `${MONTHS[month % 12]!} ${Math.floor(month / 12)}`, isMinor: (month / step) % 2 !== 0,
    });
  }
  return ticks;
}

/** Months are counted from the year 0. */
function firstOf(month: number): Millis {
  return Date.UTC(Math.floor(month / 12), month % 12);
}

function monthOf(at: Millis): number {
  const date = new Date(at);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
