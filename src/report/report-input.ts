import type { Millis } from '../core/time.ts';
import type { MonthlyReturn } from '../research/metrics/return-distribution.ts';
import type { HeatMap } from './heat-map.ts';
import type { Span } from './line-chart.ts';
import type { ImpactNote } from '../backtest/simulation-notes.ts';
import type { CostRow } from '../research/metrics/cost-breakdown.ts';
import type { MeasuredRun, MeasuredSettings } from '../research/trials/measured-run.ts';
import type { TrialCount } from '../store/trial-log.ts';
import type { Benchmarks } from '../research/metrics/run-figures.ts';
import { assert } from '../core/assert.ts';
import type { SimulationSetting } from '../trading/simulated-landing.ts';
import { factOf } from '../research/metrics/metric-warnings.ts';
import type { Assessment, Metrics } from '../research/metrics/metrics.ts';
import { notMeaningful } from '../research/metrics/figure-text.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';
import type { RunRecord } from '../backtest/record/run-record.ts';
import { assessmentsOf } from './embedded-records.ts';
import { isMeaningful, printedFigures } from './printed-figures.ts';

/** A name and what it is, in one line or several; text from anywhere. */
export type NamedText = readonly [name: string, text: string | readonly string[]];

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
  /** Made on the same data, this run included; undefined where nobody counted. */
  readonly trials?: TrialCount | undefined;
  readonly months: readonly MonthlyReturn[];
  readonly costs: readonly CostRow[];
  /** Where the impact of own swaps comes from, by direction: its name, and what its fills rest on. */
  readonly ownImpact: readonly NamedImpact[];
  /** What comes of other latencies and other costs. */
  readonly grid?: HeatMap | undefined;
  readonly silences?: Silences | undefined;
  /** By symbol, as finely as they were recorded, of the times that are looked at from near. */
  readonly prices?: ReadonlyMap<string, RecordedPrices> | undefined;
  readonly decisionRates?: DecisionRates | undefined;
  readonly parameters: readonly NamedText[];
  readonly hashes: readonly NamedText[];
}

/** An impact note with a name for people. */
export type NamedImpact = Pick<ImpactNote, 'fills' | 'displaced'> & { readonly name: string };

/**
 * By the swap's id, how much came out for each unit that goes in by the last price that was quoted of its pair, either
 * way, when it was decided; both in smallest units.
 */
export type DecisionRates = ReadonlyMap<string, number>;

/** Prices of one token as they were recorded: each holds until the next. */
export interface RecordedPrices {
  /** They rise strictly. */
  readonly times: readonly Millis[];
  /**
   * What a purchase takes and what a sale brings, as far as either was recorded: in the currency for a whole token, one
   * for each of the times.
   */
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
  /** What was quoted, in a sentence. */
  readonly source: string;
}

/** When a recording heard nothing of the market: prices are not drawn there. */
export interface Silences {
  /** Of any token. */
  readonly all: readonly Span[];
  readonly bySymbol: ReadonlyMap<string, readonly Span[]>;
}

/** The figures of a report as they are printed, each once computed. */
export interface ReportFigures {
  /** The setting that is configured, which the whole report is about; undefined where it is none of the three. */
  readonly configured: SimulationSetting | undefined;
  /** The records of the other settings. */
  readonly others: Readonly<Record<string, RunRecord>>;
  readonly assessments: ReadonlyMap<string, Assessment>;
  /** Returns a figure by its name, in an element in which the page finds it again. */
  readonly figure: (name: string) => Markup;
  /** Returns whether a figure is there. */
  readonly isGiven: (name: string) => boolean;
  /** Returns why a metric of all together is missing, or what to know about it. */
  readonly reason: (metric: keyof Metrics) => string | undefined;
}

/** Returns the figures of a report. */
export function reportFigures({ run, settings, trials }: ReportInput): ReportFigures {
  const named = Object.entries(settings) as [SimulationSetting, MeasuredRun][];
  const configured = named.find(([, each]) => each === run)?.[0];
  const others = Object.fromEntries(named.filter(([, each]) => each !== run).map(([name, { record }]) =>
    [name, { ...record, instruments: [], benchmarks: undefined }]));
  const assessments = assessmentsOf({ record: run.record, others, trials });
  const printed = printedFigures(run.record, assessments);
  const textOf = (name: string): string => {
    const text = printed.get(name);
    assert(text !== undefined, () => `a report prints figures that it has, got ${name}`);
    return text;
  };
  return {
    configured, others, assessments,
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
