import type { Millis } from '../core/time.ts';
import type { ChartLine, TimeChartData } from '../web/charts/chart-data.ts';

/** A column of numbers; a list of one number says how often the value before it is repeated. */
export type Runs = readonly (number | null | readonly [more: number])[];

/** Returns a column with counted repetitions. */
export function packRuns(column: readonly (number | null)[]): Runs {
  const runs: (number | null | readonly [number])[] = [];
  for (let from = 0, to = 0; from < column.length; from = to) {
    while (to < column.length && Object.is(column[to], column[from])) to += 1;
    runs.push(column[from]!);
    if (to - from > 1) runs.push([to - from - 1]);
  }
  return runs;
}

/** Returns a packed column as it was. */
export function unpackRuns(runs: Runs): (number | null)[] {
  const column: (number | null)[] = [];
  for (const run of runs) {
    if (typeof run === 'number' || run === null) column.push(run);
    else for (let more = run[0]; more > 0; more--) column.push(column.at(-1)!);
  }
  return column;
}

/** A chart in a page: times as distances, which are mostly equal, and values apart from them. */
export interface PackedChart extends Omit<TimeChartData, 'lines'> {
  readonly lines: readonly (Omit<ChartLine, 'points'>
    & { readonly steps: readonly Millis[]; readonly values: readonly (number | null)[] })[];
}

/** Returns a chart in the form that compresses best. */
export function packChart({ lines, ...chart }: TimeChartData): PackedChart {
  return {
    ...chart,
    lines: lines.map(({ points, ...line }) => ({
      ...line, steps: distances(points.map(([at]) => at)), values: points.map(([, value]) => value),
    })),
  };
}

/** Returns a packed chart as it was. */
export function unpackChart({ lines, ...chart }: PackedChart): TimeChartData {
  return {
    ...chart,
    lines: lines.map(({ steps, values, ...line }) => {
      const times = added(steps);
      return { ...line, points: values.map((value, i) => [times[i]!, value]) };
    }),
  };
}

/** Returns the distances between times; the first stands for itself. */
export function distances(times: readonly Millis[]): Millis[] {
  return times.map((at, i) => (i === 0 ? at : at - times[i - 1]!));
}

/** Returns the times of distances. */
export function added(steps: readonly Millis[]): Millis[] {
  let at = 0;
  return steps.map((step) => (at += step));
}
