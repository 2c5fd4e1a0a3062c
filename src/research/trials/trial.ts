import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { TrialReturns } from '../metrics/deflated-sharpe.ts';
import type { RunRecord } from '../../backtest/record/run-record.ts';

/** A parameter's value as a file says it. */
export type ParamValue = null | boolean | number | string | readonly ParamValue[]
  | { readonly [key: string]: ParamValue };

/** Parameters by strategy, those that are other than the configuration's. */
export type TrialParams = Readonly<Record<string, Readonly<Record<string, ParamValue>>>>;

/** One backtest of many over the same recording: what differs from the configuration. Plain data. */
export interface Trial {
  /** The same for the same parameters, period and model: SHA-256 over their canonical JSON, the first 16 hex digits. */
  readonly id: string;
  /** Strategies left out keep theirs. */
  readonly params: TrialParams;
  /**
   * Only rows from `from` to before `to` are traded on; before them as much as strategies warm up on. Left out: all of
   * the recording.
   */
  readonly period?: { readonly from: Millis; readonly to: Millis } | undefined;
  /** In place of the configured model. */
  readonly model?: SimulationModel | undefined;
  /** Asks for what the run left, for whoever goes on with its equity. Nothing that is decided depends on it. */
  readonly keep?: 'record' | undefined;
}

/** What a trial came to that ran to its end. */
export interface DoneTrial {
  readonly kind: 'done';
  readonly id: string;
  readonly events: number;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly fills: number;
  /** Swaps that the risk limits refused, by code. */
  readonly denials: Readonly<Record<string, number>>;
  /** Share of the time after the last fill; 0 where there is none. */
  readonly idle: number;
  /** In the currency; null where it cannot be valued. */
  readonly equity: { readonly start: number | null; readonly end: number | null };
  readonly metrics: Metrics;
  readonly returns: TrialReturns;
  readonly warnings: readonly string[];
  /** Where it was asked for. */
  readonly record?: RunRecord | undefined;
}

/** What a trial came to. */
export type TrialResult =
  | DoneTrial
  /**
   * There is no such backtest: a strategy's schema refuses the parameters, or the recording lacks what they watch. It
   * counts as no trial.
   */
  | { readonly kind: 'refused'; readonly id: string; readonly reason: string }
  /** It began, and a strategy brought it down. */
  | { readonly kind: 'failed'; readonly id: string; readonly reason: string };

/** Runs trials in threads over one recording that is read once. */
export interface TrialPool {
  /** Yields results in the order in which they are done. Throws INTERRUPTED. */
  run(trials: Iterable<Trial>): AsyncIterable<TrialResult>;
  close(): Promise<void>;
}

/** Returns a trial under its id. */
export function trialOf(difference: Omit<Trial, 'id'>): Trial {
  const { params, period, model } = difference;
  const plainModel = model === undefined ? undefined
    : { ...model, transferFees: Object.fromEntries(model.transferFees) };
  const id = createHash('sha256').update(canonicalJson({ params, period, model: plainModel }))
    .digest('hex').slice(0, 16);
  return { id, ...difference };
}

/**
 * Returns the parameters of a strategy in a trial, as a file would say them: the configuration's with the trial's over
 * them.
 */
export function rawParamsIn(
  { params }: Pick<Trial, 'params'>, { name, rawParams }: { readonly name: string; readonly rawParams: unknown },
): Readonly<Record<string, unknown>> {
  return { ...(rawParams as Readonly<Record<string, unknown>>), ...params[name] };
}

/** What came of running a trial once more, where nothing that could have left something behind was run before. */
export interface Repetition {
  /** Whether every decision was the same. */
  readonly isSame: boolean;
  /** Why it came to nothing; undefined where it came to something. */
  readonly fault: string | undefined;
}

/** Returns how a trial's repetition compares with it. */
export function repetitionOf({ decisionHash }: Pick<DoneTrial, 'decisionHash'>, again: TrialResult): Repetition {
  return again.kind === 'done' ? { isSame: again.decisionHash === decisionHash, fault: undefined }
    : { isSame: false, fault: again.reason };
}

/** Returns the warning of what did not come to the same again; `what` was run. */
export function notRepeatable(what: string, { fault }: Repetition): string {
  if (fault !== undefined)
    return `NOT repeatable: where nothing else was run before, ${what} came to nothing: ${fault}`;
  return `NOT repeatable: where nothing else was run before, ${what} came to other decisions. A strategy keeps `
    + 'something from one run to the next, so none of these figures can be relied on; "gannet lookahead" says more';
}
