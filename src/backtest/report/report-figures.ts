import { assert } from '../../core/assert.ts';
import type { SimulationSetting } from '../../trading/simulated-landing.ts';
import type { MeasuredRun } from '../measured-run.ts';
import { factOf } from '../metrics/doubts.ts';
import type { Assessment, Metrics } from '../metrics/metrics.ts';
import { notMeaningful } from '../metrics/shown-metrics.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import type { RunRecord } from '../record/run-record.ts';
import { assessmentsOf } from './embedded.ts';
import { isSaying, printedFigures } from './printed.ts';
import type { ReportInput } from './report-input.ts';

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
  const others = Object.fromEntries(named.filter(([, each]) => each !== run).map(([name, { record }]) => [name, { ...record, instruments: [] }]));
  const assessments = assessmentsOf({ record: run.record, others, trials });
  const printed = printedFigures(run.record, assessments);
  const textOf = (name: string): string => {
    const text = printed.get(name);
    assert(text !== undefined, () => `a report prints figures that it has, got ${name}`);
    return text;
  };
  return {
    configured, others, assessments,
    figure: (name) => markup`<span data-figure="${name}"${!isSaying(textOf(name)) && markup` class="none"`}>${textOf(name)}</span>`,
    isGiven: (name) => isSaying(textOf(name)),
    reason(metric) {
      const assessment = assessments.get('total')!;
      const warning = assessment.warnings.find(({ figures }) => figures.includes(metric));
      return warning === undefined ? notMeaningful(metric, assessment) : factOf(warning);
    },
  };
}
