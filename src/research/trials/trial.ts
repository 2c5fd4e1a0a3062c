import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { TrialReturns } from '../metrics/deflated-sharpe.ts';
import type { RunRecord } from '../../backtest/record/run-record.ts';

/** A parameter's value as in a file. */
export type ParamValue = null | boolean | number | string | readonly ParamValue[]
  | { readonly [key: string]: ParamValue };

/** Parameters by strategy that differ from the configuration. */
export type TrialParams = Readonly<Record<string, Readonly<Record<string, ParamValue>>>>;

/** One backtest of many over the same recording, by its differences from the configuration. Plain data. */
export interface Trial {
  /** Equal for equal parameters, period and model: SHA-256 over their canonical JSON, the first 16 hex digits. */
  readonly id: string;
  /** Strategies that are left out keep their parameters. */
  readonly params: TrialParams;
  /** Only rows from `from` to before `to` are traded on, after the warm-up. Left out: the whole recording. */
  readonly period?: { readonly from: Millis; readonly to: Millis } | undefined;
  /** Replaces the configured model. */
  readonly model?: SimulationModel | undefined;
  /** Keeps the record of the run, for a caller that continues with its equity. No decision depends on it. */
  readonly keep?: 'record' | undefined;
}

/** The result of a finished trial. */
export interface DoneTrial {
  readonly kind: 'done';
  readonly id: string;
  readonly events: number;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly fills: number;
  /** The number of swaps that the risk limits refused, by code. */
  readonly denials: Readonly<Record<string, number>>;
  /** Share of the time after the last fill; 0 without fills. */
  readonly idle: number;
  /** In the currency; null if it cannot be valued. */
  readonly equity: { readonly start: number | null; readonly end: number | null };
  readonly metrics: Metrics;
  readonly returns: TrialReturns;
  readonly warnings: readonly string[];
  /** Only if it was kept. */
  readonly record?: RunRecord | undefined;
}

/** The result of a trial. */
export type TrialResult =
  | DoneTrial
  /**
   * The backtest is impossible: a strategy's schema refuses the parameters, or the recording lacks their feeds. It
   * counts as no trial.
   */
  | { readonly kind: 'refused'; readonly id: string; readonly reason: string }
  /** It began, and a strategy failed it. */
  | { readonly kind: 'failed'; readonly id: string; readonly reason: string };

/** Long enough for every trial that ends at all. */
export const DEFAULT_TRIAL_LIMIT_MS: Millis = 300_000;

/** Runs trials in boxed processes over one recording. */
export interface TrialPool {
  /** Yields results in the order of their completion. Throws INTERRUPTED. */
  run(trials: Iterable<Trial>): AsyncIterable<TrialResult>;
  close(): Promise<void>;
}

/** Returns a trial with its id. */
export function trialOf(difference: Omit<Trial, 'id'>): Trial {
  const { params, period, model } = difference;
  const plainModel = model === undefined ? undefined
    : { ...model, transferFees: Object.fromEntries(model.transferFees) };
  const id = createHash('sha256').update(canonicalJson({ params, period, model: plainModel }))
    .digest('hex').slice(0, 16);
  return { id, ...difference };
}

/** Returns the raw parameters of a strategy in a trial: the configuration's, overridden by the trial's. */
export function rawParamsIn(
  { params }: Pick<Trial, 'params'>, { name, rawParams }: { readonly name: string; readonly rawParams: unknown },
): Readonly<Record<string, unknown>> {
  return { ...(rawParams as Readonly<Record<string, unknown>>), ...params[name] };
}

/** The comparison of a trial with its repetition in a thread that ran nothing else. */
export interface Repetition {
  /** Whether every decision was the same. */
  readonly isSame: boolean;
  /** The reason why the repetition failed; undefined if it succeeded. */
  readonly fault: string | undefined;
}

/** Returns the comparison of a trial with its repetition. */
export function repetitionOf({ decisionHash }: Pick<DoneTrial, 'decisionHash'>, again: TrialResult): Repetition {
  return again.kind === 'done' ? { isSame: again.decisionHash === decisionHash, fault: undefined }
    : { isSame: false, fault: again.reason };
}

/** Returns the warning that a repetition of `what` differs. */
export function notRepeatable(what: string, { fault }: Repetition): string {
  if (fault !== undefined)
    return `NOT repeatable: in a new thread, ${what} failed: ${fault}`;
  return `NOT repeatable: in a new thread, ${what} led to other decisions. A strategy keeps state between runs, `
    + 'so that all of these figures are unreliable; "gannet lookahead" finds the cause';
}
