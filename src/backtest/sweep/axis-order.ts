import type { ParamValue } from '../trial.ts';
import type { GridAxis } from './grid.ts';

/** Returns the numbers of an axis's values in rising order; undefined where there is no more and less among them. */
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

/** Returns a value as people write it. */
export function valueName(value: ParamValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text is a number with a unit: "10s", "25 USDC". Of several numbers, as in "1h30m", nobody knows the order. */
function sizeOf(value: ParamValue): { readonly amount: number; readonly unit: string } | undefined {
  if (typeof value === 'number') return { amount: value, unit: '' };
  const match = typeof value === 'string' ? /^(-?\d+(?:\.\d+)?)( *[A-Za-z]+)$/.exec(value) : null;
  return match === null ? undefined : { amount: Number(match[1]), unit: match[2]! };
}
