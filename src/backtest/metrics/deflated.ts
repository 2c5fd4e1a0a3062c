import { counted } from '../../core/counted.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { MetricWarning } from './doubts.ts';
import type { Assessment, Metrics } from './metrics.ts';
import { deflatedSharpe, expectedMaximumSharpe } from './sharpe-confidence.ts';
import type { TrialReturns } from './trial-returns.ts';
import { returnsOf } from './trial-returns.ts';

/** Returns the Sharpe ratio a year that the best of all trials would show where none is worth anything; undefined where nobody can say. */
export function sharpeByLuck({ count, sharpeVariance }: TrialCount): number | undefined {
  return expectedMaximumSharpe({ count, sharpeVariance });
}

/** Returns metrics with the number of trials and the Sharpe ratio deflated by them, null where it rests on what is not given. */
export function deflated(metrics: Metrics, { sharpePerBar, bars, perYear, skewness, kurtosis }: TrialReturns, { count, sharpeVariance }: TrialCount): Metrics {
  if (metrics.psr === null || sharpePerBar === null || perYear === null || skewness === null || kurtosis === null) return { ...metrics, dsr: null, trials: count };
  const trials = { count, sharpeVariance: sharpeVariance === undefined ? undefined : sharpeVariance / perYear };
  return { ...metrics, dsr: deflatedSharpe({ sharpe: sharpePerBar, returns: bars, skewness, kurtosis }, trials) ?? null, trials: count };
}

/** Returns an assessment deflated by the trials made on its data, with the reason where that cannot be done. */
export function withTrials(assessment: Assessment, trials: TrialCount): Assessment {
  const metrics = deflated(assessment.metrics, returnsOf(assessment), trials);
  const others = assessment.warnings.filter(({ code }) => code !== 'trials_unknown');
  return { ...assessment, metrics, warnings: metrics.dsr === null ? [...others, notDeflated(metrics, trials)] : others };
}

function notDeflated({ psr }: Metrics, { count }: TrialCount): MetricWarning {
  const why = psr === null ? 'P(Sharpe > 0) is not given' : `of ${counted(count, 'trial')} on these data fewer than two have a Sharpe ratio, and how they vary is not known`;
  return { code: 'not_deflated', message: `the Sharpe ratio is not deflated, since ${why}`, figures: ['dsr'] };
}
