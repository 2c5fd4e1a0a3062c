import { limitedBy } from '../trials/denial-summary.ts';
import type { Objective } from '../trials/objectives.ts';
import type { ParamValue } from '../trials/trial.ts';
import type { GridAxis, GridPoint } from './grid.ts';
import { axisName, risingOrder } from './grid.ts';
import type { SweepRow } from './grid.ts';
import { medianOf } from '../../core/median.ts';

/** A combination one step away from the best along one parameter. */
interface Neighbour {
  readonly param: string;
  readonly from: ParamValue;
  readonly to: ParamValue;
  /** Its objective; null without one. */
  readonly value: number | null;
  /** Whether the risk limits determined its result. */
  readonly limited: boolean;
}

/**
 * The shape of the surroundings of the best combination. A single good combination is more often chance than market.
 */
type PeakShape = 'plateau' | 'slope' | 'needle' | 'unknown';

/** The surroundings of the best combination. */
export interface Neighbourhood {
  readonly shape: PeakShape;
  readonly neighbours: readonly Neighbour[];
  /** The median of the neighbours' objectives, where a missing one counts as the worst; null without neighbours. */
  readonly median: number | null;
  /** The median of all objectives. */
  readonly medianOfAll: number | null;
}

const FEWEST = 2;
/**
 * Of the best combination's lead over the median of all, the neighbours on a plateau keep at least this share, and
 * those of a needle at most this one.
 */
const PLATEAU = 0.7;
const NEEDLE = 0.3;

/**
 * Returns the neighbourhood of a combination: the next higher and lower value of each parameter whose values have an
 * order.
 */
export function neighbourhoodOf(best: SweepRow, rows: readonly SweepRow[], { axes, better }: {
  readonly axes: readonly GridAxis[]; readonly better: Objective['better'];
}): Neighbourhood {
  const byPoint = new Map(rows.map((row) => [row.point.join(' '), row]));
  const neighbours = axes.flatMap((axis, i) => stepsFrom(best.point, axis, i).flatMap((point): Neighbour[] => {
    const row = byPoint.get(point.join(' '));
    return row === undefined ? [] : [{
      param: axisName(axis), from: axis.values[best.point[i]!]!, to: axis.values[point[i]!]!, value: row.value,
      limited: limitedBy(row.result) !== undefined,
    }];
  }));
  const known = rows.flatMap(({ value }) => (value === null ? [] : [value]));
  const worst = known.reduce(
    (least, value) => (better === 'higher' ? Math.min(least, value) : Math.max(least, value)), best.value ?? 0,
  );
  const median = medianOf(neighbours.map(({ value }) => value ?? worst));
  const medianOfAll = medianOf(known);
  return {
    shape: neighbours.length < FEWEST ? 'unknown' : peakShapeOf(best.value, median, medianOfAll), neighbours, median,
    medianOfAll,
  };
}

function stepsFrom(point: GridPoint, axis: GridAxis, i: number): GridPoint[] {
  const order = risingOrder(axis);
  if (order === undefined) return [];
  const place = order.indexOf(point[i]!);
  return [order[place - 1], order[place + 1]].flatMap((to) => (to === undefined ? [] : [point.with(i, to)]));
}

function peakShapeOf(best: number | null, median: number | null, medianOfAll: number | null): PeakShape {
  if (best === null || median === null || medianOfAll === null || best === medianOfAll) return 'unknown';
  const kept = (median - medianOfAll) / (best - medianOfAll);
  return kept >= PLATEAU ? 'plateau' : kept <= NEEDLE ? 'needle' : 'slope';
}
