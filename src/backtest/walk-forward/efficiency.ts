import type { Millis } from '../../core/time.ts';
import { YEAR_MS } from '../metrics/equity-series.ts';

/** What a run made of the money that it began with, as a share of it, in how long. */
export interface Gain {
  readonly share: number;
  readonly spanMs: Millis;
}

/** Returns what runs that each began with the same money made in a year, not compounded; undefined of no time. */
export function yearlyGain(gains: readonly Gain[]): number | undefined {
  const spanMs = gains.reduce((sum, gain) => sum + gain.spanMs, 0);
  return spanMs <= 0 ? undefined : gains.reduce((sum, { share }) => sum + share, 0) / (spanMs / YEAR_MS);
}

/**
 * Returns the walk-forward efficiency: what was made in a year out of sample, by what the same parameters made in a year
 * in-sample (R. Pardo, "The Evaluation and Optimization of Trading Strategies", 2008). Undefined where nothing was made
 * in-sample: a share of a loss would turn the sign of what came after.
 */
export function walkForwardEfficiency(folds: readonly { readonly inSample: Gain; readonly outOfSample: Gain }[]): number | undefined {
  const before = yearlyGain(folds.map(({ inSample }) => inSample));
  const after = yearlyGain(folds.map(({ outOfSample }) => outOfSample));
  return before === undefined || after === undefined || before <= 0 ? undefined : after / before;
}
