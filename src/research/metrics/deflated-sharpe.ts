import { pluralize } from '../../core/text.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { MetricWarning } from './metric-warnings.ts';
import type { Assessment, Metrics } from './metrics.ts';
import { deflatedSharpe, expectedMaximumSharpe } from './sharpe-confidence.ts';

/**
 * Returns the yearly Sharpe ratio that the best of all trials would show if none had any value; undefined if unknown.
 */
export function sharpeByLuck({ count, sharpeVariance }: TrialCount): number | undefined {
  return expectedMaximumSharpe({ count, sharpeVariance });
}

/** Returns metrics with the number of trials and the deflated Sharpe ratio; null when one of its inputs is missing. */
export function deflated(metrics: Metrics, { sharpePerBar, bars, perYear, skewness, kurtosis }: TrialReturns, {
  count, sharpeVariance,
}: TrialCount): Metrics {
  if (metrics.psr === null || sharpePerBar === null || perYear === null || skewness === null || kurtosis === null)
    return { ...metrics, dsr: null, trials: count };
  const trials = { count, sharpeVariance: sharpeVariance === undefined ? undefined : sharpeVariance / perYear };
  return {
    ...metrics, dsr: deflatedSharpe({ sharpe: sharpePerBar, returns: bars, skewness, kurtosis }, trials) ?? null,
    trials: count,
  };
}

/** Returns an assessment deflated by the trials on its data, with a warning when that is impossible. */
export function withTrials(assessment: Assessment, trials: TrialCount): Assessment {
  const metrics = deflated(assessment.metrics, returnsOf(assessment), trials);
  const others = assessment.warnings.filter(({ code }) => code !== 'trials_unknown');
  return {
    ...assessment, metrics, warnings: metrics.dsr === null ? [...others, notDeflated(metrics, trials)] : others,
  };
}

function notDeflated({ psr }: Metrics, { count }: TrialCount): MetricWarning {
  const why = psr === null ? 'P(Sharpe > 0) is not given'
    : `of ${pluralize(count, 'trial')} on these data fewer than two have a Sharpe ratio: their variance is unknown`;
  return { code: 'not_deflated', message: `the Sharpe ratio is not deflated, because ${why}`, figures: ['dsr'] };
}

/** The Sharpe ratio of bars and the inputs of its confidence. */
export interface TrialReturns {
  readonly sharpePerBar: number | null;
  /** Number of bars. */
  readonly bars: number;
  /** Bars in a year. */
  readonly perYear: number | null;
  readonly skewness: number | null;
  /** 3 for the normal distribution. */
  readonly kurtosis: number | null;
}

/** Returns the Sharpe ratio of a run's bars and the inputs of its confidence. */
export function returnsOf({ path, metrics }: Assessment): TrialReturns {
  const { sharpe, skewness, kurtosis } = metrics;
  const { returns = [], perYear } = path;
  return {
    sharpePerBar: sharpe === null || perYear === undefined ? null : sharpe / Math.sqrt(perYear),
    bars: returns.length,
    perYear: perYear ?? null,
    skewness, kurtosis,
  };
}
