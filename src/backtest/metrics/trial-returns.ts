import type { Assessment } from './metrics.ts';

/** The Sharpe ratio of bars with what its certainty is reckoned by. */
export interface TrialReturns {
  readonly sharpePerBar: number | null;
  /** Bars in all. */
  readonly bars: number;
  /** Bars in a year. */
  readonly perYear: number | null;
  readonly skewness: number | null;
  /** 3 for the normal distribution. */
  readonly kurtosis: number | null;
}

/** Returns what is to be known of a run's returns. */
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
