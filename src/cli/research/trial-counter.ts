import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { longestWarmup } from '../../backtest/backtest.ts';
import type { DoneTrial, Trial } from '../../backtest/trial.ts';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { recordingIdentity } from '../../recording/identity.ts';
import type { LoggedTrial, TrialCount, TrialLog } from '../../store/trial-log.ts';
import { openTrialLog } from '../../store/trial-log.ts';
import type { Subject } from './subject.ts';
import { trialIdentities } from './trial-identity.ts';

/** The rows that something was traded on. */
export interface TrialPeriod {
  readonly from: Millis;
  readonly to: Millis;
}

/** A trial with what it came to. */
export interface TriedOut {
  readonly trial: Pick<Trial, 'params' | 'period' | 'model'>;
  readonly result: Pick<DoneTrial, 'kind' | 'metrics'> | { readonly kind: 'refused' | 'failed' };
}

/** Counts what is tried on a recording, here and in every other run, in the log of the state directory. */
export interface TrialCounter {
  /**
   * Takes note of trials, of those that came to their end, and returns how many there are on these data by now; undefined
   * where the log cannot be written. `areFolds` says that a walk-forward made them to choose by.
   */
  count(tried: readonly TriedOut[], options?: { readonly areFolds?: boolean | undefined }): TrialCount | undefined;
  /**
   * Takes note of a walk-forward as one trial, told apart by its terms, and returns how many there are on the rows that it
   * is judged by. What walk-forwards tried to choose by is not among them: it was chosen before those rows.
   */
  countWalkForward(walk: { readonly terms: unknown; readonly period: TrialPeriod; readonly sharpe: number | null }): TrialCount | undefined;
  /** Why something could not be counted. */
  readonly warnings: readonly string[];
  close(): void;
}

/** Returns the rows that a subject's strategies are traded on where nothing narrower is said. */
export function wholePeriod({ firstAt, lastAt, strategies }: Pick<Subject['setup'], 'firstAt' | 'lastAt' | 'strategies'>): TrialPeriod {
  return { from: firstAt + longestWarmup(strategies), to: lastAt + 1 };
}

/**
 * Opens the log of a state directory for a subject, before anything is run. Throws TRIALS_INVALID where the file is
 * foreign, broken or newer; where the disk does not take it, nothing is counted and the warnings say so: no answer is lost for that.
 */
export async function openTrialCounter({ stateDir, subject: { setup, recording } }: { readonly stateDir: string; readonly subject: Pick<Subject, 'setup' | 'recording'> }): Promise<TrialCounter> {
  const identityOf = await trialIdentities(setup);
  const identity = recordingIdentity(recording);
  const whole = wholePeriod(setup);
  const warnings: string[] = [];
  let log: TrialLog | undefined;

  const giveUp = (error: unknown): undefined => {
    if (!isTrialsError(error)) throw error;
    warnings.push(`this run is not counted among the trials, so its Sharpe ratio is not deflated: ${error.message}`);
    close();
    return undefined;
  };
  const close = (): void => {
    log?.close();
    log = undefined;
  };
  const tally = (logged: readonly LoggedTrial[], period: TrialPeriod, withFolds: boolean): TrialCount | undefined => {
    if (log === undefined) return undefined;
    try {
      log.record(logged);
      return log.of({ recording: identity, ...period }, { withFolds });
    } catch (error) {
      return giveUp(error);
    }
  };

  try {
    log = openTrialLog(join(stateDir, 'trials.sqlite'));
  } catch (error) {
    if (isTrialsError(error) && error.code === 'TRIALS_INVALID') throw error;
    giveUp(error);
  }
  return {
    warnings,
    count: (tried, { areFolds = false } = {}) => tally(tried.flatMap(({ trial, result }): LoggedTrial[] => {
      if (result.kind !== 'done') return [];
      const { from, to } = trial.period ?? whole;
      return [{ ...identityOf(trial), data: { recording: identity, from, to }, sharpe: result.metrics.sharpe, isFold: areFolds }];
    }), whole, true),
    countWalkForward: ({ terms, period, sharpe }) => {
      const params = canonicalJson({ walk_forward: terms });
      const id = createHash('sha256').update(`${identityOf({ params: {} }).id}${params}`).digest('hex').slice(0, 32);
      return tally([{ id, params, data: { recording: identity, ...period }, sharpe, isFold: false }], period, false);
    },
    close,
  };
}

function isTrialsError(error: unknown): error is GannetError {
  return isGannetError(error) && (error.code === 'TRIALS_FAILED' || error.code === 'TRIALS_INVALID');
}
