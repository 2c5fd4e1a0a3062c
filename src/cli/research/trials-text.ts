import { sharpeByLuck } from '../../backtest/metrics/deflated.ts';
import { likelihoodText, ratioText } from '../../backtest/metrics/figure-text.ts';
import { luckiestText, triedText } from '../../backtest/verdict.ts';
import type { TrialCount } from '../../store/trial-log.ts';

/** How far the results of fewer scatter is a guess, and so is what luck shows. */
const FEW_TRIALS = 10;

/** Returns the number of trials for scripts, with what they do to a Sharpe ratio a year; null where nobody could count. */
export function trialsJson(trials: TrialCount | undefined): unknown {
  if (trials === undefined) return null;
  return { count: trials.count, sharpe_variance: trials.sharpeVariance ?? null, sharpe_by_luck: sharpeByLuck(trials) ?? null };
}

/** Returns in plain words how many trials there are and what that says of a deflated Sharpe ratio; undefined where nobody could count. */
export function trialsText(trials: TrialCount | undefined, dsr: number | null, luckUnknown?: string): string | undefined {
  if (trials === undefined) return undefined;
  if (luckUnknown !== undefined) return `${trials.count === 1 ? 'this is the first on these data' : triedText(trials.count)}; what luck alone would show is not meaningful: ${luckUnknown}`;
  if (trials.count === 1) return `this is the first on these data: there was nothing to choose among${dsr === null ? '' : `, and its true Sharpe ratio is above 0 with a probability of ${likelihoodText(dsr)}`}`;
  const luck = luckText(trials);
  return luck === undefined || dsr === null ? `${triedText(trials.count)}${luck === undefined ? UNKNOWN_LUCK : ''}` : `${triedText(trials.count)}${luck}; that this one is truly above that has a probability of ${likelihoodText(dsr)}`;
}

/** What follows after how many were tried where luck cannot be told. */
export const UNKNOWN_LUCK = ', too few of them with a Sharpe ratio to say what luck alone would show';

/** Returns what luck alone shows where two or more were tried, to follow after how many were; undefined where nobody can say. */
export function luckText(trials: TrialCount): string | undefined {
  const luck = sharpeByLuck(trials);
  if (luck === undefined) return undefined;
  const shown = `${luckiestText(trials.count)} shows a Sharpe ratio of`;
  return trials.count < FEW_TRIALS ? `, few to go by: going by how far apart they are, ${shown} about ${Number(luck.toPrecision(2))} a year` : `: ${shown} ${ratioText(luck)} a year`;
}
