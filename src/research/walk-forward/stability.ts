import { canonicalJson } from '../../core/json.ts';
import type { ParamValue, TrialParams } from '../trials/trial.ts';
import type { Millis } from '../../core/time.ts';
import { YEAR_MS } from '../metrics/equity-series.ts';

/** How often something was chosen. */
interface ChosenValue {
  readonly value: ParamValue;
  readonly folds: number;
}

/** How one parameter was chosen from fold to fold. */
interface ParameterStability {
  readonly strategy: string;
  readonly parameter: string;
  /** Folds whose value is another one than in the choice before. */
  readonly changes: number;
  /** Most often chosen first. */
  readonly values: readonly ChosenValue[];
}

/** How choices hold from fold to fold. */
export interface Stability {
  /** Folds in which something was chosen. */
  readonly choices: number;
  /** Folds in which something else was chosen than in the choice before. */
  readonly changes: number;
  readonly parameters: readonly ParameterStability[];
}

/** Returns how the choices of folds hold, in their order; folds without a choice are left out of it. */
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

/** What a run made of the money that it began with, as a share of it, in how long. */
interface Gain {
  readonly share: number;
  readonly spanMs: Millis;
}

/** Returns what runs that each began with the same money made in a year, not compounded; undefined of no time. */
export function yearlyGain(gains: readonly Gain[]): number | undefined {
  const spanMs = gains.reduce((sum, gain) => sum + gain.spanMs, 0);
  return spanMs <= 0 ? undefined : gains.reduce((sum, { share }) => sum + share, 0) / (spanMs / YEAR_MS);
}

/**
 * Returns the walk-forward efficiency: what was made in a year out of sample, by what the same parameters made in a
 * year in-sample (R. Pardo, "The Evaluation and Optimization of Trading Strategies", 2008). Undefined where nothing was
 * made in-sample: a share of a loss would turn the sign of what came after.
 */
export function walkForwardEfficiency(
  folds: readonly { readonly inSample: Gain; readonly outOfSample: Gain }[],
): number | undefined {
  const before = yearlyGain(folds.map(({ inSample }) => inSample));
  const after = yearlyGain(folds.map(({ outOfSample }) => outOfSample));
  return before === undefined || after === undefined || before <= 0 ? undefined : after / before;
}
