import type { Millis } from '../../core/time.ts';
import type { NumberUnit } from '../number-text.ts';

/** A value at a time; null begins a gap. */
export type ChartPoint = readonly [at: Millis, value: number | null];

/** The colours of lines, by meaning. `gain` and `loss` are for profit and loss alone. */
type ChartTone = 'main' | 'second' | 'third' | 'gain' | 'loss';

/** A line over time. */
export interface ChartLine {
  readonly label: string;
  readonly tone: ChartTone;
  /** `area` fills the space below the line, `depth` the space above it. */
  readonly form: 'line' | 'area' | 'depth' | 'thin' | 'dotted' | 'steps';
  /** 0 is the upper part of the chart. */
  readonly pane: number;
  /** In the order of time. */
  readonly points: readonly ChartPoint[];
}

/** Something that happened at a time: a buy, a sale, or money paid in or out. */
export interface ChartMark {
  readonly at: Millis;
  readonly kind: 'buy' | 'sell' | 'deposit' | 'withdrawal';
  /** What it was, in words: "bought 2 SOL at 180.20". */
  readonly text: string;
  /** Left out, the mark is beside the line. */
  readonly value?: number | undefined;
}

/** A value that matters over the whole time: a stop, a target, the price of an entry, a limit. */
export interface ChartLevel {
  readonly kind: 'stop' | 'target' | 'entry' | 'limit';
  readonly value: number;
  readonly label: string;
}

/** What a chart over time shows. It is plain data, which a page can hold as JSON. */
export interface TimeChartData {
  readonly title: string;
  /** One for each part of the chart, from above. */
  readonly units: readonly NumberUnit[];
  readonly lines: readonly ChartLine[];
  readonly marks: readonly ChartMark[];
  /** Of the upper part. */
  readonly levels: readonly ChartLevel[];
  /** The first line can be drawn as candles. */
  readonly hasCandles?: boolean | undefined;
  /** What the chart says while it has no point. */
  readonly empty: string;
}

/** The points of a chart at equal distances of time. */
export interface TimeGrid {
  /** The beginning of each step. */
  readonly times: readonly Millis[];
  readonly step: Millis;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 4, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28].map((days) => days * DAY_MS),
];
const MOST_STEPS = 4_000;
const MOST_CANDLES = 120;
/** Empty steps that a line crosses; more are a gap. */
const MOST_EMPTY_STEPS = 5;

/**
 * Returns equal steps of time over all points. The distance of points on the screen is then their distance in time,
 * also where no point is. Undefined without a point.
 */
export function timeGrid({ lines }: Pick<TimeChartData, 'lines'>, isForCandles = false): TimeGrid | undefined {
  const used = (isForCandles ? lines.slice(0, 1) : lines).flatMap(({ points }) => points);
  if (used.length === 0) return undefined;
  let [first, last] = [Infinity, -Infinity];
  for (const [at] of used) [first, last] = [Math.min(first, at), Math.max(last, at)];
  const span = Math.max(SECOND_MS, last - first);
  const least = isForCandles ? span / MOST_CANDLES : Math.max(span / MOST_STEPS, usualDistance(lines[0]!.points));
  const step = STEPS_MS.findLast((each) => each <= least && span / each <= MOST_STEPS)
    ?? STEPS_MS.find((each) => span / each <= MOST_STEPS) ?? Math.ceil(span / MOST_STEPS);
  const begin = Math.floor(first / step) * step;
  return { times: Array.from({ length: Math.floor((last - begin) / step) + 1 }, (_, i) => begin + i * step), step };
}

/** Returns the last value in each step; undefined where a step has no point, null where a gap begins. */
export function onGrid(points: readonly ChartPoint[], { times, step }: TimeGrid): (number | null | undefined)[] {
  const values = Array.from<number | null | undefined>({ length: times.length });
  for (const [at, value] of points) {
    const place = placeOnGrid(at, { times, step });
    if (place >= 0 && place < values.length) values[place] = value;
  }
  return values;
}

/** Returns whether the line is interrupted after a step. */
export function isBeforeGap(values: readonly (number | null | undefined)[], place: number): boolean {
  for (let next = place + 1; next < values.length; next++) {
    if (values[next] === null) return true;
    if (values[next] !== undefined) return next - place > MOST_EMPTY_STEPS + 1;
  }
  return false;
}

/** Returns the step of a time. */
export function placeOnGrid(at: Millis, { times, step }: TimeGrid): number {
  return Math.floor((at - times[0]!) / step);
}

/** The prices within a step of time. */
interface Candle {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

/** Returns the candle of each step, undefined where a step has no value. A candle opens where the last one closed. */
export function candlesOf(points: readonly ChartPoint[], grid: TimeGrid): (Candle | undefined)[] {
  const candles = Array.from<Candle | undefined>({ length: grid.times.length });
  let close: number | undefined;
  let last = -Infinity;
  for (const [at, value] of points) {
    const place = placeOnGrid(at, grid);
    if (value === null || place - last > MOST_EMPTY_STEPS + 1) close = undefined;
    if (value === null) continue;
    last = place;
    const before = candles[place] ?? { open: close ?? value, high: close ?? value, low: close ?? value, close: value };
    candles[place] = {
      open: before.open, high: Math.max(before.high, value), low: Math.min(before.low, value), close: value,
    };
    close = value;
  }
  return candles;
}

/** Returns the median of the distances between points. */
function usualDistance(points: readonly ChartPoint[]): Millis {
  const distances = points.slice(1).map(([at], i) => at - points[i]![0]).filter((distance) => distance > 0)
    .toSorted((a, b) => a - b);
  return distances[Math.floor(distances.length / 2)] ?? SECOND_MS;
}
