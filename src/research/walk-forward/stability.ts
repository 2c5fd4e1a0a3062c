import { canonicalJson } from '../../core/json.ts';
import type { ParamValue, TrialParams } from '../trials/trial.ts';
import type { Millis } from '../../core/time.ts';
import { YEAR_MS } from '../metrics/equity-series.ts';

/** The number of folds that chose a value. */
interface ChosenValue {
  readonly value: ParamValue;
  readonly folds: number;
}

/** The choices of one parameter over the folds. */
interface ParameterStability {
  readonly strategy: string;
  readonly parameter: string;
  /** Folds with another value than in the choice before. */
  readonly changes: number;
  /** Most often chosen first. */
  readonly values: readonly ChosenValue[];
}

/** The stability of choices over the folds. */
export interface Stability {
  /** Folds with a choice. */
  readonly choices: number;
  /** Folds with another choice than before. */
  readonly changes: number;
  readonly parameters: readonly ParameterStability[];
}

/** Returns the stability of the folds' choices in order; folds without a choice are ignored. */
export function stabilityOf(chosen: readonly TrialParams[]): Stability {
  const names = new Map<string, { readonly strategy: string; readonly parameter: string }>();
  for (const params of chosen) {
    for (const [strategy, own] of Object.entries(params)) {
      for (const parameter of Object.keys(own))
        names.set(canonicalJson([strategy, parameter]), { strategy, parameter });
    }
  }
  return {
    choices: chosen.length,
    changes: changesOf(chosen.map((params) => canonicalJson(params))),
    parameters: [...names.values()].map(({ strategy, parameter }) => {
      const values = chosen.map((params) => params[strategy]?.[parameter] ?? null);
      return {
        strategy, parameter, changes: changesOf(values.map((value) => canonicalJson(value))), values: counted(values),
      };
    }),
  };
}

function changesOf(texts: readonly string[]): number {
  return texts.filter((text, i) => i > 0 && text !== texts[i - 1]).length;
}

function counted(values: readonly ParamValue[]): ChosenValue[] {
  const counts = new Map<string, { readonly value: ParamValue; folds: number }>();
  for (const value of values) {
    const text = canonicalJson(value);
    const known = counts.get(text);
    if (known === undefined) counts.set(text, { value, folds: 1 });
    else known.folds += 1;
  }
  return [...counts.values()].toSorted((a, b) => b.folds - a.folds);
}

/** The gain of a run as a share of its initial money, and its duration. */
interface Gain {
  readonly share: number;
  readonly spanMs: Millis;
}

/** Returns the yearly gain of runs that began with the same money, not compounded; undefined without a time span. */
function yearlyGain(gains: readonly Gain[]): number | undefined {
  const spanMs = gains.reduce((sum, gain) => sum + gain.spanMs, 0);
  return spanMs <= 0 ? undefined : gains.reduce((sum, { share }) => sum + share, 0) / (spanMs / YEAR_MS);
}

/**
 * Returns the walk-forward efficiency: the yearly gain out of sample divided by the yearly gain of the same parameters
 * in-sample (R. Pardo, "The Evaluation and Optimization of Trading Strategies", 2008). Undefined without an in-sample
 * gain, because a share of a loss would invert the sign.
 */
export function walkForwardEfficiency(
  folds: readonly { readonly inSample: Gain; readonly outOfSample: Gain }[],
): number | undefined {
  const before = yearlyGain(folds.map(({ inSample }) => inSample));
  const after = yearlyGain(folds.map(({ outOfSample }) => outOfSample));
  return before === undefined || after === undefined || before <= 0 ? undefined : after / before;
}
