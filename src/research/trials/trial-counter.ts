import { createHash } from 'node:crypto';
import { longestWarmup } from '../../backtest/backtest.ts';
import type { DoneTrial, Trial } from './trial.ts';
import { rawParamsIn } from './trial.ts';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { recordingIdentity } from '../../recording/identity.ts';
import type { LoggedTrial, TrialCount, TrialLog } from '../../store/trial-log.ts';
import type { ResearchInput } from '../research-input.ts';
import { recordSimulation } from '../../config/config-record.ts';
import { recordLimits } from '../../config/risk-limits.ts';
import { recordStrategyLimits, recordValue } from '../../config/value-record.ts';
import type { TokenTable } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import { withTokens } from '../../strategy/params.ts';
import { strategyHash } from './strategy-source.ts';
import type { ThreadSetup, ThreadStrategy } from './thread-setup.ts';
import { strategyCode } from './thread-setup.ts';

/** A period of trading. */
interface TrialPeriod {
  readonly from: Millis;
  readonly to: Millis;
}

/** A trial and its result. */
interface CountedTrial {
  readonly trial: Pick<Trial, 'params' | 'period' | 'model'>;
  readonly result: Pick<DoneTrial, 'kind' | 'metrics'> | { readonly kind: 'refused' | 'failed' };
}

/** Counts the trials on a recording, of this run and all others, in the log of the state directory. */
export interface TrialCounter {
  /**
   * Logs the finished ones of some trials, and returns the number of trials on these data so far; undefined when the
   * log cannot be written. `areFolds` says that a walk-forward ran them to choose by.
   */
  count(tried: readonly CountedTrial[], options?: { readonly areFolds?: boolean | undefined }): TrialCount | undefined;
  /**
   * Logs a walk-forward as one trial, identified by its terms, and returns the number of trials on the rows that judge
   * it. The in-sample trials of walk-forwards do not count, because their choice precedes those rows.
   */
  countWalkForward(
    walk: { readonly terms: unknown; readonly period: TrialPeriod; readonly sharpe: number | null },
  ): TrialCount | undefined;
  /** The reasons why something could not be counted. */
  readonly warnings: readonly string[];
  close(): void;
}

/** Returns the default period of trading of a research input. */
function wholePeriod(
  { firstAt, lastAt, strategies }: Pick<ResearchInput['setup'], 'firstAt' | 'lastAt' | 'strategies'>,
): TrialPeriod {
  return { from: firstAt + longestWarmup(strategies), to: lastAt + 1 };
}

/**
 * Opens the log of trials for a research input, before any run. Throws TRIALS_INVALID when the file is
 * foreign, broken or newer. When the disk refuses it, nothing is counted and a warning says so, because the result is
 * still valid.
 */
export async function openTrialCounter({ openLog, subject: { setup, recording } }: {
  readonly openLog: () => TrialLog; readonly subject: Pick<ResearchInput, 'setup' | 'recording'>;
}): Promise<TrialCounter> {
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
  const logAndCount = (
    logged: readonly LoggedTrial[], period: TrialPeriod, withFolds: boolean,
  ): TrialCount | undefined => {
    if (log === undefined) return undefined;
    try {
      log.record(logged);
      return log.of({ recording: identity, ...period }, { withFolds });
    } catch (error) {
      return giveUp(error);
    }
  };

  try {
    log = openLog();
  } catch (error) {
    if (isTrialsError(error) && error.code === 'TRIALS_INVALID') throw error;
    giveUp(error);
  }
  return {
    warnings,
    count: (tried, { areFolds = false } = {}) => logAndCount(tried.flatMap(({ trial, result }): LoggedTrial[] => {
      if (result.kind !== 'done') return [];
      const { from, to } = trial.period ?? whole;
      return [{
        ...identityOf(trial), data: { recording: identity, from, to }, sharpe: result.metrics.sharpe, isFold: areFolds,
      }];
    }), whole, true),
    countWalkForward: ({ terms, period, sharpe }) => {
      const params = canonicalJson({ walk_forward: terms });
      const id = createHash('sha256').update(`${identityOf({ params: {} }).id}${params}`).digest('hex').slice(0, 32);
      const trial = { id, params, data: { recording: identity, ...period }, sharpe, isFold: false };
      return logAndCount([trial], period, false);
    },
    close,
  };
}

function isTrialsError(error: unknown): error is GannetError {
  return isGannetError(error) && (error.code === 'TRIALS_FAILED' || error.code === 'TRIALS_INVALID');
}

/** The identity of a trial, whatever rows it runs on. */
interface TrialIdentity {
  readonly id: string;
  /** The parameters of each strategy, as canonical JSON. */
  readonly params: string;
}

/**
 * Returns a function that identifies the trials of a configuration: by the strategies' code and parameters, budgets,
 * limits and the simulation. Names, seeds and written defaults do not count.
 */
async function trialIdentities(setup: ThreadSetup): Promise<(trial: Pick<Trial, 'params' | 'model'>) => TrialIdentity> {
  const tokens = tokenTable(setup.tokens);
  const coded = await Promise.all(setup.strategies.map((strategy) => withCode(strategy, setup.places)));
  const common = {
    currency: setup.currency.mint,
    balances: Object.fromEntries(setup.balances),
    limits: recordLimits(setup.limits),
    strategies: coded.map(({ code, own: { budget, limits, warmupMs } }) => ({
      code, budget: recordValue(budget), warmup_ms: warmupMs, ...recordStrategyLimits(limits),
    })),
  };
  return ({ params: changed, model = setup.model }) => {
    const params = coded.map(({ strategy, own }) => effective(strategy, rawParamsIn({ params: changed }, own), tokens));
    const text = canonicalJson({ ...common, params, model: recordSimulation(model) });
    return {
      id: createHash('sha256').update(text).digest('hex').slice(0, 32),
      params: canonicalJson(Object.fromEntries(coded.map(({ own: { name } }, i) => [name, params[i]]))),
    };
  };
}

async function withCode(
  own: ThreadStrategy, places: ThreadSetup['places'],
): Promise<{ readonly own: ThreadStrategy; readonly strategy: Strategy; readonly code: string }> {
  return { own, strategy: await strategyCode(own, places), code: await strategyHash(own.use, places) };
}

/**
 * The parsed parameters, so that written and omitted defaults are equal. Parameters that parse to more than data stay
 * as written.
 */
function effective({ params }: Strategy, raw: object, tokens: TokenTable): unknown {
  const parsed = withTokens(tokens, () => params.safeParse(raw));
  return parsed.success && isPlain(parsed.data) ? parsed.data : raw;
}

function isPlain(value: unknown): boolean {
  if (value === null || ['boolean', 'string', 'bigint', 'undefined'].includes(typeof value)) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  return typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
    && Object.values(value).every(isPlain);
}
