import { sharpeByLuck } from '../../backtest/metrics/deflated.ts';
import { likelihoodText, ratioText } from '../../backtest/metrics/shown-metrics.ts';
import type { TrialCount } from '../../store/trial-log.ts';

/** Returns the number of trials for scripts, with what they do to a Sharpe ratio a year; null where nobody could count. */
export function trialsJson(trials: TrialCount | undefined): unknown {
  if (trials === undefined) return null;
  return { count: trials.count, sharpe_variance: trials.sharpeVariance ?? null, sharpe_by_luck: sharpeByLuck(trials) ?? null };
}

/** Returns in plain words how many trials there are and what that says of a deflated Sharpe ratio; undefined where nobody could count. */
export function trialsText(trials: TrialCount | undefined, dsr: number | null): string | undefined {
  if (trials === undefined) return undefined;
  const { count } = trials;
  const luck = sharpeByLuck(trials);
  if (count === 1) return `this is the first on these data: nothing was chosen among, so nothing is deflated${dsr === null ? '' : `, and the true Sharpe is above 0 with a probability of ${likelihoodText(dsr)}`}`;
  const tried = `${count} were tried on these data`;
  if (luck === undefined) return `${tried}, too few of them with a Sharpe to say what luck alone would show`;
  return `${tried}: of so many the best shows a Sharpe of ${ratioText(luck)} by luck alone${dsr === null ? '' : `; the true one is above that with a probability of ${likelihoodText(dsr)}`}`;
}
