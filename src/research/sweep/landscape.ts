import type { Objective } from '../trials/objectives.ts';
import type { GridAxis, GridPoint } from './grid.ts';
import { axisName, risingOrder, valueName } from './grid.ts';
import { medianOf } from '../../core/median.ts';
import type { SweepRow } from './grid.ts';

/** An objective by two parameters. */
interface Landscape {
  readonly down: LandscapeSide;
  readonly across: LandscapeSide;
  /** A row for each value down; a text gives the reason when there is no number. */
  readonly values: readonly (readonly (number | string)[])[];
  /** The cell of the best combination. */
  readonly best: { readonly row: number; readonly column: number };
  /** The treatment of the other parameters. */
  readonly rest: string | undefined;
  /** The values that were left out to keep the map readable. */
  readonly thinned: string | undefined;
}

/** An axis of the map with its values in order. */
interface LandscapeSide {
  readonly name: string;
  readonly labels: readonly string[];
}

/** The reasons of combinations without an objective, by their points. */
type MissingReasons = ReadonlyMap<string, string>;

const MOST_LABELS = 40;

/** Returns the key of a point in `MissingReasons`. */
export function pointKey(point: GridPoint): string {
  return point.join(' ');
}

/**
 * Returns the objective by the two parameters that affect it most. The other parameters have their values of the best
 * combination; after a random search a cell shows the best over them. Undefined with fewer than two varied parameters.
 */
export function landscapeOf(best: SweepRow, rows: readonly SweepRow[], { axes, better, isWhole, missing }: {
  readonly axes: readonly GridAxis[];
  readonly better: Objective['better'];
  /** Whether all combinations were tried. */
  readonly isWhole: boolean;
  readonly missing: MissingReasons;
}): Landscape | undefined {
  const varied = axes.map((axis, i) => ({ axis, i, weight: weightOf(rows, i) }))
    .filter(({ axis }) => axis.values.length > 1);
  if (varied.length < 2) return undefined;
  const [one, other] =
    varied.toSorted((a, b) => b.weight - a.weight).slice(0, 2) as [(typeof varied)[number], (typeof varied)[number]];
  const [down, across] = one.i < other.i ? [one, other] : [other, one];
  const rest = varied.filter(({ i }) => i !== down.i && i !== across.i);
  const [shownDown, shownAcross] =
    [shownOf(down.axis, best.point[down.i]!), shownOf(across.axis, best.point[across.i]!)];
  const byPoint = new Map(rows.map((row) => [pointKey(row.point), row.value]));
  const overRest = isWhole || rest.length === 0 ? undefined
    : bestOverRest(rows, { down: down.i, across: across.i, better });
  const cell = (r: number, c: number): number | string => {
    const point = best.point.with(down.i, r).with(across.i, c);
    const value = overRest === undefined ? byPoint.get(pointKey(point)) : overRest.get(`${r} ${c}`);
    return value ?? missing.get(pointKey(point)) ?? (value === null
      ? 'no objective: nothing was traded, or the data do not support it' : 'not tried');
  };
  const thinned = [[down.axis, shownDown], [across.axis, shownAcross]] as const;
  return {
    down: sideOf(down.axis, shownDown), across: sideOf(across.axis, shownAcross),
    values: shownDown.map((r) => shownAcross.map((c) => cell(r, c))),
    best: { row: shownDown.indexOf(best.point[down.i]!), column: shownAcross.indexOf(best.point[across.i]!) },
    rest: rest.length === 0 ? undefined : isWhole
      ? 'The others are as in the best combination: '
        + `${rest.map(({ axis, i }) => `${axisName(axis)} ${valueName(axis.values[best.point[i]!]!)}`).join(', ')}.`
      : 'Each cell is the best of what was tried with other values of '
        + `${rest.map(({ axis }) => axisName(axis)).join(', ')}.`,
    thinned: thinned.flatMap(([axis, shown]) => (shown.length === axis.values.length ? [] : [
      `Of the ${axis.values.length} values of ${axisName(axis)} ${shown.length} are shown.`,
    ])).join(' ') || undefined,
  };
}

/** Returns the spread of the objective's medians over the values of a parameter. */
function weightOf(rows: readonly SweepRow[], i: number): number {
  const byValue = new Map<number, number[]>();
  for (const { point, value } of rows) {
    if (value === null) continue;
    const known = byValue.get(point[i]!);
    if (known === undefined) byValue.set(point[i]!, [value]);
    else known.push(value);
  }
  const middles = [...byValue.values()].map((values) => medianOf(values)!);
  if (middles.length === 0) return 0;
  return middles.reduce((most, value) => Math.max(most, value), -Infinity)
    - middles.reduce((least, value) => Math.min(least, value), Infinity);
}

function bestOverRest(rows: readonly SweepRow[], { down, across, better }: {
  readonly down: number; readonly across: number; readonly better: Objective['better'];
}): ReadonlyMap<string, number | null> {
  const best = new Map<string, number | null>();
  for (const { point, value } of rows) {
    const key = `${point[down]} ${point[across]}`;
    const known = best.get(key) ?? null;
    const isBetter = known === null || (value !== null && (better === 'higher' ? value > known : value < known));
    if (isBetter) best.set(key, value);
  }
  return best;
}

/** Returns the indices of the values to show, in order, including the best one's. */
function shownOf(axis: GridAxis, best: number): readonly number[] {
  const order = risingOrder(axis) ?? axis.values.map((_, i) => i);
  const step = Math.ceil(order.length / MOST_LABELS);
  const place = order.indexOf(best);
  return order.filter((_, i) => i % step === place % step);
}

function sideOf(axis: GridAxis, shown: readonly number[]): LandscapeSide {
  return { name: axisName(axis), labels: shown.map((i) => valueName(axis.values[i]!)) };
}
