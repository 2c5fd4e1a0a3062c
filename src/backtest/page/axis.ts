import { grouped } from '../../core/counted.ts';
import type { ValueKind } from './value-text.ts';
import { fixedText } from './value-text.ts';

/** A place on an axis that is labelled. */
export interface Tick {
  readonly value: number;
  readonly text: string;
  /** There is room for it on a wide page only. */
  readonly isMinor: boolean;
}

/** What one side of a chart spans, with what is written along it. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly Tick[];
}

const FEWEST_STEPS = 4;

/**
 * Returns an axis whose ends are ticks, at equal round distances: all of the values are within it, and `include` too.
 * Undefined where there is no value.
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
  // A hair of tolerance, so that an end that is a tick but for the last digit does not get one more beyond it.
  const first = Math.floor((range.low * scale) / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil((range.high * scale) / step - 1e-9));
  const decimals = decimalsOf(step);
  const ticks = Array.from({ length: last - first + 1 }, (_, i): Tick => {
    const value = (first + i) * step;
    return { value: value / scale, text: `${grouped(fixedText(value, decimals))}${unit}`, isMinor: false };
  });
  return { low: ticks[0]!.value, high: ticks.at(-1)!.value, ticks };
}

/** Returns how far along an axis a value is: 0 at its low end, 1 at its high one. */
export function placeOn({ low, high }: Pick<Axis, 'low' | 'high'>, value: number): number {
  return (value - low) / (high - low);
}

/** Returns the next 1, 2, 2.5 or 5 times a power of ten. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}

/** Nothing is counted by halves. */
function wholeStep(least: number): number {
  const step = Math.max(1, roundStep(least));
  return Number.isInteger(step) ? step : roundStep(step * 1.01);
}

function rangeOf(values: Iterable<number | null>, include: readonly number[], kind: ValueKind): { readonly low: number; readonly high: number } | undefined {
  let [low, high] = [Infinity, -Infinity];
  const hold = (value: number): void => {
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  for (const value of values) if (value !== null) hold(value);
  if (low > high) return undefined;
  include.forEach(hold);
  // What differs by no more than the last digits that a number has is one value.
  if (high - low > Math.max(Math.abs(low), Math.abs(high)) * 1e-9) return { low, high };
  const room = Math.abs(low) * 0.01 || (kind === 'share' ? 0.01 : 1);
  return { low: low === 0 ? 0 : low - room, high: high + room };
}

function decimalsOf(step: number): number {
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const isQuarter = Math.abs(step * 10 ** places - 2.5) < 1e-6;
  return Math.min(100, isQuarter ? places + 1 : places);
}
