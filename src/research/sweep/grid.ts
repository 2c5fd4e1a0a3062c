import { canonicalJson } from '../../core/json.ts';
import { seededRandom } from '../../core/random.ts';
import type { Objective } from '../trials/objectives.ts';
import type { DoneTrial, ParamValue, TrialParams } from '../trials/trial.ts';
import { groupThousands, printable } from '../../core/text.ts';

/** The values of one parameter of a strategy, each once. */
export interface GridAxis {
  readonly strategy: string;
  readonly param: string;
  /** At least one. */
  readonly values: readonly ParamValue[];
}

/** All combinations, or a random sample that depends on the seed only. */
export type GridSearch = { readonly kind: 'grid' }
  | { readonly kind: 'random'; readonly samples: number; readonly seed: number };

/** The combinations of a sweep. */
export interface Grid {
  readonly axes: readonly GridAxis[];
  readonly search: GridSearch;
}

/** One combination: the index of its value on each axis. */
export type GridPoint = readonly number[];

/** A larger number is more often a mistake in a step than intended. */
export const MOST_TRIALS = 100_000;

/** Returns the number of combinations. */
export function combinationCount(axes: readonly GridAxis[]): number {
  return axes.reduce((product, { values }) => product * values.length, 1);
}

/** Yields the combinations, each once: with the last axis varying fastest, or in random order. */
export function* pointsOf({ axes, search }: Grid): Generator<GridPoint> {
  const size = combinationCount(axes);
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

/** Returns values without duplicates. */
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

/** Returns the indices of an axis's values in rising order; undefined when the values have no order. */
export function risingOrder({ values }: Pick<GridAxis, 'values'>): readonly number[] | undefined {
  const sizes = values.map(sizeOf);
  const [first] = sizes;
  if (first === undefined || sizes.some((size) => size === undefined || size.unit !== first.unit)) return undefined;
  return sizes.map((_, i) => i).toSorted((a, b) => sizes[a]!.amount - sizes[b]!.amount);
}

/** Returns the name of an axis, as in the grid's file. */
export function axisName({ strategy, param }: Pick<GridAxis, 'strategy' | 'param'>): string {
  return `${strategy}.${param}`;
}

/** Returns a value for people. */
export function valueName(value: ParamValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text is a number with a unit: "10s", "25 USDC". Texts with several numbers, such as "1h30m", have no order. */
function sizeOf(value: ParamValue): { readonly amount: number; readonly unit: string } | undefined {
  if (typeof value === 'number') return { amount: value, unit: '' };
  const match = typeof value === 'string' ? /^(-?\d+(?:\.\d+)?)( *[A-Za-z]+)$/.exec(value) : null;
  return match === null ? undefined : { amount: Number(match[1]), unit: match[2]! };
}

/** A finished combination. */
export interface SweepRow {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly result: DoneTrial;
  /** Its objective; null without one. */
  readonly value: number | null;
}

/** Returns a row with its objective. */
export function sweepRow(row: Omit<SweepRow, 'value'>, { valueOf }: Objective): SweepRow {
  return { ...row, value: valueOf(row.result) };
}

/** Returns the parameters of a combination as text: "sol-trend.fast 20, sol-trend.slow 60". */
export function combinationText(params: TrialParams): string {
  return printable(Object.entries(params).flatMap(([strategy, own]) =>
    Object.entries(own).map(([param, value]) => `${strategy}.${param} ${valueName(value)}`)).join(', '), 500);
}

/** A longer count is shown in scientific notation. */
const MOST_DIGITS = 12;

/** A number and its unit, exactly as written: 10 s is `{ digits: 10n, places: 0, unit: 's' }`. */
interface Quantity {
  readonly digits: bigint;
  readonly places: number;
  readonly unit: string;
}

/** A range as in a file: numbers, or texts of a number and a unit such as "10s" and "25 USDC". */
interface ValueRange {
  readonly from: number | string;
  readonly to: number | string;
  readonly step: number | string;
}

const QUANTITY = /^(-?)(\d*)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?( *[A-Za-z].*)?$/i;

/**
 * Returns the values of a range in its own notation, including `to` if a step reaches it, or the reason why it is
 * invalid. Computed in whole numbers, so that ten steps of 0.1 make 1. `most` is the maximum number of values.
 */
export function rangeValues({ from, to, step }: ValueRange, most: number): readonly (number | string)[] | string {
  const read = [from, to, step].map(quantityOf);
  const [first, last, distance] = read;
  if (first === undefined || last === undefined || distance === undefined)
    return 'expected numbers, or texts such as "10s" and "25 USDC", in from, to and step';
  if (first.unit !== last.unit || first.unit !== distance.unit) return 'expected one unit in from, to and step, got '
    + `"${first.unit.trim()}", "${last.unit.trim()}" and "${distance.unit.trim()}"`;
  const places = Math.max(first.places, last.places, distance.places);
  const [low, high, by] = [scaled(first, places), scaled(last, places), scaled(distance, places)];
  if (by <= 0n) return `expected a step above 0, got ${step}`;
  if (low > high) return `expected from to be at most to, got ${from} and ${to}`;
  const count = (high - low) / by + 1n;
  if (count > BigInt(most)) return `expected at most ${groupThousands(String(most))} values, got ${countText(count)}: `
    + 'take a larger step, or write a nearer "to"';
  const isNumber = typeof from === 'number';
  return Array.from({ length: Number(count) }, (_, i) => {
    const text = decimalText(low + BigInt(i) * by, places);
    return isNumber ? Number(text) : `${text}${first.unit}`;
  });
}

function countText(count: bigint): string {
  const text = count.toString();
  return text.length <= MOST_DIGITS ? groupThousands(text) : `about 1e${text.length - 1}`;
}

function quantityOf(value: number | string): Quantity | undefined {
  const match = QUANTITY.exec(String(value).trim());
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0', unit = ''] = match;
  if (whole + fraction === '') return undefined;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return places >= 0 ? { digits, places, unit } : { digits: digits * 10n ** BigInt(-places), places: 0, unit };
}

function scaled({ digits, places }: Quantity, to: number): bigint {
  return digits * 10n ** BigInt(to - places);
}

function decimalText(digits: bigint, places: number): string {
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  const [whole, fraction] = [text.slice(0, text.length - places), text.slice(text.length - places).replace(/0+$/, '')];
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
