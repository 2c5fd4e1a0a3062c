import type { Metrics } from '../../../src/research/metrics/metrics.ts';
import type { GridAxis } from '../../../src/research/sweep/grid.ts';
import { paramsAt } from '../../../src/research/sweep/grid.ts';
import type { SweepRow } from '../../../src/research/sweep/grid.ts';
import type { DoneTrial } from '../../../src/research/trials/trial.ts';

/** Returns the axis of a parameter of the one strategy. */
export function axis(param: string, ...values: GridAxis['values']): GridAxis {
  return { strategy: 's', param, values };
}

/** Returns a row as if its combination had come to a value. */
export function row(axes: readonly GridAxis[], point: readonly number[], value: number | null): SweepRow {
  const result: DoneTrial = {
    kind: 'done', id: point.join('-'), events: 1, decisions: 1, decisionHash: 'h', fills: 1, denials: {}, idle: 0,
    equity: { start: 1, end: 1 }, metrics: {} as Metrics,
    returns: { sharpePerBar: null, bars: 0, perYear: null, skewness: null, kurtosis: null }, warnings: [],
  };
  return { point, params: paramsAt(axes, point), result, value };
}

/** Returns the rows of all combinations of two axes, valued by a function of the numbers of their values. */
export function landscapeRows(
  axes: readonly [GridAxis, GridAxis], valueAt: (x: number, y: number) => number | null,
): SweepRow[] {
  return axes[0].values.flatMap((_, x) => axes[1].values.map((__, y) => row(axes, [x, y], valueAt(x, y))));
}
