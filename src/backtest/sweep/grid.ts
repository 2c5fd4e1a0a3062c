import { canonicalJson } from '../../core/json.ts';
import { seededRandom } from '../../core/random.ts';
import type { ParamValue, TrialParams } from '../trial.ts';

/** The values that one parameter of a strategy is tried with, each once. */
export interface GridAxis {
  readonly strategy: string;
  readonly param: string;
  /** At least one. */
  readonly values: readonly ParamValue[];
}

/** All combinations, or so many of them by chance: the same for the same seed. */
export type GridSearch = { readonly kind: 'grid' } | { readonly kind: 'random'; readonly samples: number; readonly seed: number };

/** What a sweep tries. */
export interface Grid {
  readonly axes: readonly GridAxis[];
  readonly search: GridSearch;
}

/** One combination: the number of its value on each axis. */
export type GridPoint = readonly number[];

/** More than this is a slip in a step more often than a wish. */
export const MOST_TRIALS = 100_000;

/** Returns how many combinations a grid has. */
export function sizeOf(axes: readonly GridAxis[]): number {
  return axes.reduce((product, { values }) => product * values.length, 1);
}

/** Yields the combinations to try, each once: the last axis goes round first, or by chance, for as long as they are asked for. */
export function* pointsOf({ axes, search }: Grid): Generator<GridPoint> {
  const size = sizeOf(axes);
  if (search.kind === 'grid' || size <= MOST_TRIALS) {
    const order = search.kind === 'grid' ? undefined : shuffled(size, search.seed);
    for (let i = 0; i < size; i++) yield pointAt(axes, order === undefined ? i : order[i]!);
    return;
  }
  const random = seededRandom(`sweep:${search.seed}`);
  const seen = new Set<string>();
  for (;;) {
    const point = axes.map(({ values }) => Math.floor(random() * values.length));
    const key = point.join(' ');
    if (seen.has(key)) continue;
    seen.add(key);
    yield point;
  }
}

/** Returns the parameters of a combination. */
export function paramsAt(axes: readonly GridAxis[], point: GridPoint): TrialParams {
  const params: Record<string, Record<string, ParamValue>> = {};
  for (const [i, { strategy, param, values }] of axes.entries()) (params[strategy] ??= {})[param] = values[point[i]!]!;
  return params;
}

/** Returns values without those that are there already. */
export function distinct(values: readonly ParamValue[]): readonly ParamValue[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}

function pointAt(axes: readonly GridAxis[], index: number): GridPoint {
  const point: number[] = [];
  let rest = index;
  for (const { values } of axes.toReversed()) {
    point.unshift(rest % values.length);
    rest = Math.floor(rest / values.length);
  }
  return point;
}

function shuffled(size: number, seed: number): Uint32Array {
  const random = seededRandom(`sweep:${seed}`);
  const order = Uint32Array.from({ length: size }, (_, i) => i);
  for (let i = size - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
