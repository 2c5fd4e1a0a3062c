import type { MonthlyReturn } from '../metrics/monthly.ts';
import type { CostRow } from '../cost-breakdown.ts';
import type { MeasuredRun, MeasuredSettings } from '../measured-run.ts';
import type { Benchmarks } from '../record/run-figures.ts';

/** A name and what it is; text from anywhere. */
export type NamedText = readonly [name: string, text: string];

/** What a report is made of. */
export interface ReportInput {
  readonly runId: string;
  /** What was run, for the headline. */
  readonly subject: string;
  /** Before anything else. */
  readonly warnings: readonly string[];
  readonly verdict: readonly string[];
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  readonly benchmarks: Benchmarks;
  readonly months: readonly MonthlyReturn[];
  readonly costs: readonly CostRow[];
  readonly parameters: readonly NamedText[];
  readonly hashes: readonly NamedText[];
}
