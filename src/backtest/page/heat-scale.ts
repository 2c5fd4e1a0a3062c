/** What colours of a heat map mean: the styles are `down4` to `down1`, `even`, `up1` to `up4`, of hues that colour-blind people tell apart. */
export interface HeatScale {
  readonly style: (value: number) => string;
  /** Those that occur, from the least value to the most. */
  readonly steps: readonly HeatStep[];
}

/** A range of values of one colour. */
export interface HeatStep {
  readonly style: string;
  readonly from: number;
  readonly to: number;
}

const STEPS = 4;

/**
 * Returns a scale for values. Around a middle, the colours are as far from it on either side as the farthest value is, so
 * that equal distances look equal; without one (null) they go from the least value to the most.
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
    return `${value < middle ? 'down' : 'up'}${Math.min(STEPS, Math.max(1, Math.ceil((Math.abs(value - middle) / farthest) * STEPS)))}`;
  };
}

function byRange(low: number, high: number): (value: number) => string {
  return (value) => (low === high ? 'even' : `up${Math.min(STEPS, Math.floor(((value - low) / (high - low)) * STEPS) + 1)}`);
}
