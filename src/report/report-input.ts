import type { NamedText } from '../web/markup.ts';
import type { Millis } from '../core/time.ts';
import type { MonthlyReturn } from '../research/metrics/return-distribution.ts';
import type { HeatMap } from './charts/heat-map.ts';
import type { Span } from './charts/chart-figure.ts';
import type { RunStatistics } from '../research/metrics/run-statistics.ts';
import { runStatistics } from '../research/metrics/run-statistics.ts';
import type { ImpactNote } from '../backtest/simulation-notes.ts';
import type { CostRow } from '../research/metrics/cost-breakdown.ts';
import type { MeasuredRun, MeasuredSettings } from '../research/trials/measured-run.ts';
import type { TrialCount } from '../store/trial-log.ts';
import type { Benchmarks } from '../research/metrics/run-figures.ts';
import { assert } from '../core/assert.ts';
import type { SimulationSetting } from '../trading/simulation-model.ts';
import { factOf } from '../research/metrics/metric-warnings.ts';
import type { Assessment, Metrics } from '../research/metrics/metrics.ts';
import { notMeaningful } from '../research/metrics/figure-text.ts';
import type { Markup } from '../web/markup.ts';
import { markup } from '../web/markup.ts';
import type { RunRecord } from '../backtest/record/run-record.ts';
import { assessmentsOf } from './embedded-records.ts';
import { isMeaningful, printedFigures } from './printed-figures.ts';

/** The input of a backtest's report. */
export interface ReportInput {
  readonly runId: string;
  /** What was run, for the title. */
  readonly subject: string;
  /** The first content of the page. */
  readonly warnings: readonly string[];
  readonly verdict: readonly string[];
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  readonly benchmarks: Benchmarks;
  /** All trials on the same data, this run included; undefined where they were not counted. */
  readonly trials?: TrialCount | undefined;
  readonly months: readonly MonthlyReturn[];
  readonly costs: readonly CostRow[];
  /** The source of own impact by direction: its name, and its fills. */
  readonly ownImpact: readonly NamedImpact[];
  /** The result under other latencies and other costs. */
  readonly grid?: HeatMap | undefined;
  readonly silences?: Silences | undefined;
  /** Recorded prices by symbol, within the windows of swaps. */
  readonly prices?: ReadonlyMap<string, RecordedPrices> | undefined;
  readonly decisionRates?: DecisionRates | undefined;
  readonly parameters: readonly NamedText[];
  readonly hashes: readonly NamedText[];
}

/** An impact note with a name for people. */
type NamedImpact = Pick<ImpactNote, 'fills' | 'displaced'> & { readonly name: string };

/**
 * By the swap's id: the last quoted rate of its pair before the decision, in either direction, as output per input in
 * smallest units.
 */
export type DecisionRates = ReadonlyMap<string, number>;

/** The recorded prices of one token: each holds until the next. */
export interface RecordedPrices {
  /** They rise strictly. */
  readonly times: readonly Millis[];
  /**
   * The prices of a purchase and of a sale, where recorded: in the currency for a whole token, one for each of the
   * times.
   */
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
  /** The quoted sizes, in a sentence. */
  readonly source: string;
}

/** The spans without any recorded data: prices are not drawn there. */
export interface Silences {
  /** Spans without data of any token. */
  readonly all: readonly Span[];
  readonly bySymbol: ReadonlyMap<string, readonly Span[]>;
}

/** The printed figures of a report, each computed once. */
export interface ReportFigures {
  /** The configured setting, which the report is about; undefined where it is none of the three. */
  readonly configured: SimulationSetting | undefined;
  /** The records of the other settings. */
  readonly others: Readonly<Record<string, RunRecord>>;
  readonly assessments: ReadonlyMap<string, Assessment>;
  readonly statistics: RunStatistics;
  /** Returns a figure by its name, in an element that the page's script can find. */
  readonly figure: (name: string) => Markup;
  /** Returns whether a figure has a meaningful value. */
  readonly isGiven: (name: string) => boolean;
  /** Returns why a metric of all strategies together is missing, or a caveat about it. */
  readonly reason: (metric: keyof Metrics) => string | undefined;
}

/** Returns the figures of a report. */
export function reportFigures({ run, settings, trials }: ReportInput): ReportFigures {
  const named = Object.entries(settings) as [SimulationSetting, MeasuredRun][];
  const configured = named.find(([, each]) => each === run)?.[0];
  const others = Object.fromEntries(named.filter(([, each]) => each !== run).map(([name, { record }]) =>
    [name, { ...record, instruments: [], benchmarks: undefined }]));
  const assessments = assessmentsOf({ record: run.record, others, trials });
  const statistics = runStatistics(run.record);
  const printed = printedFigures(run.record, assessments, statistics);
  const textOf = (name: string): string => {
    const text = printed.get(name);
    assert(text !== undefined, () => `a report prints figures that it has, got ${name}`);
    return text;
  };
  return {
    configured, others, assessments, statistics,
    figure: (name) =>
      markup`<span data-figure="${name}"${!isMeaningful(textOf(name)) && markup` class="none"`}>${textOf(name)}</span>`,
    isGiven: (name) => isMeaningful(textOf(name)),
    reason(metric) {
      const assessment = assessments.get('total')!;
      const warning = assessment.warnings.find(({ figures }) => figures.includes(metric));
      return warning === undefined ? notMeaningful(metric, assessment) : factOf(warning);
    },
  };
}
