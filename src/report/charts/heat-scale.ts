/**
 * The colours of a heat map: the styles are `down4` to `down1`, `even`, and `up1` to `up4`, or `level1` to `level4`
 * where there is no middle. Each cell has its number too.
 */
export interface HeatScale {
  readonly style: (value: number) => string;
  /** The occurring colours, from the smallest value to the largest. */
  readonly steps: readonly HeatStep[];
}

/** The values of one colour. */
export interface HeatStep {
  readonly style: string;
  readonly from: number;
  readonly to: number;
}

const STEPS = 4;

/**
 * Returns a scale for values. Around a middle, equal distances on both sides have equal colours. Without one (null) the
 * colours span the smallest to the largest value.
 */
export function heatScale(values: readonly number[], middle: number | null = 0): HeatScale {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const style = middle === null ? byRange(low, high) : byDistance(middle, Math.max(middle - low, high - middle));
  const steps = new Map<string, HeatStep>();
  for (const value of values.toSorted((a, b) => a - b)) {
    const name = style(value);
    steps.set(name, { style: name, from: steps.get(name)?.from ?? value, to: value });
  }
  return { style, steps: [...steps.values()] };
}

function byDistance(middle: number, farthest: number): (value: number) => string {
  return (value) => {
    if (value === middle) return 'even';
    const step = Math.ceil((Math.abs(value - middle) / farthest) * STEPS);
    return `${value < middle ? 'down' : 'up'}${Math.min(STEPS, Math.max(1, step))}`;
  };
}

function byRange(low: number, high: number): (value: number) => string {
  return (value) =>
    (low === high ? 'even' : `level${Math.min(STEPS, Math.floor(((value - low) / (high - low)) * STEPS) + 1)}`);
}
