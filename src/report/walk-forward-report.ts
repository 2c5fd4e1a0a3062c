import { canonicalJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { SHOWN_METRICS, labelIn, notMeaningful, scaledNote, shareText } from '../research/metrics/figure-text.ts';
import type { ObjectiveName } from '../research/trials/objectives.ts';
import { OBJECTIVES } from '../research/trials/objectives.ts';
import type { HeatValue } from './heat-map.ts';
import { heatMapFigure } from './heat-map.ts';
import type { ChartLine, Span } from './line-chart.ts';
import { lineChart } from './line-chart.ts';
import type { Markup } from './markup.ts';
import { columnsOf, dataTable, markup } from './markup.ts';
import type { PageSection } from './page.ts';
import { renderPage, splitWarnings } from './page.ts';
import { instantText } from './axis.ts';
import type { NamedText } from './report-input.ts';
import { namedTable } from './outcome-tables.ts';
import type { TrialParams } from '../research/trials/trial.ts';
import type { JoinedRun, WalkForwardResult } from '../research/walk-forward/walk-forward.ts';
import type { FoldOutcome } from '../research/walk-forward/fold-outcome.ts';
import { foldLimits } from '../research/walk-forward/fold-outcome.ts';
import { paramsText } from '../research/walk-forward/walk-forward-verdict.ts';

/** What the report of a walk-forward is made of; text from anywhere. */
export interface WalkForwardReport {
  /** What was run, for the headline. */
  readonly subject: string;
  /** How it was folded and chosen, in a line. */
  readonly terms: string;
  readonly warnings: readonly string[];
  readonly verdict: readonly string[];
  readonly result: WalkForwardResult;
  readonly sets: readonly TrialParams[];
  readonly objective: ObjectiveName;
  readonly currency: string;
  readonly parameters: readonly NamedText[];
  readonly hashes: readonly NamedText[];
}

/** More rows than this are nothing to look at. */
const SETS_SHOWN = 40;

/** Returns a walk-forward's report as one HTML page that needs nothing else. */
export function renderWalkForward(report: WalkForwardReport): string {
  const { subject, terms, warnings, verdict, result: { joined } } = report;
  return renderPage({
    title: `Walk-forward of ${subject}`,
    lead: markup`<p class="soft">${terms}</p>`,
    ...splitWarnings(warnings, joined?.assessment.warnings ?? []),
    verdict: markup`${verdict.map((sentence) => markup`<p>${sentence}</p>`)}`,
    sections: [
      { id: 'folds', title: 'Folds', body: foldTable(report) },
      ...(joined === undefined ? []
        : [{ id: 'equity', title: 'Equity out of sample', body: equityCharts(report, joined) }]),
      { id: 'choices', title: 'What was chosen', body: choiceTables(report) },
      ...(joined === undefined ? [] : [figureSection(joined, report.currency)]),
      { id: 'parameters', title: 'Configuration', body: namedTable('Configuration', report.parameters) },
      { id: 'hashes', title: 'Hashes', body: namedTable('Hashes', report.hashes) },
    ],
  });
}

function foldTable({ result: { folds }, objective: name }: WalkForwardReport): Markup {
  const objective = OBJECTIVES[name];
  const isReturn = name === 'total_return';
  return markup`${dataTable({
    label: 'Folds',
    columns: [
      { name: 'fold' }, { name: 'out of sample, UTC', isText: true }, { name: 'chosen', isText: true },
      ...(isReturn ? [] : [{ name: `${objective.label}, in-sample` }, { name: 'out of sample' }]), { name: 'return in-sample' }, { name: 'out of sample' }, { name: 'swaps' }, { name: 'what became of it', isText: true },
    ],
    rows: folds.map(({ fold, choice, outOfSample, status, reason }) => [
      fold.number, markup`<span class="whole">${dayText(fold.outOfSample.from)} to</span> <span class="whole">${dayText(fold.outOfSample.to)}</span>`, choice === undefined ? '–' : paramsText(choice.params),
      ...(isReturn ? [] : [shown(choice?.value, objective.show), shown(outOfSample === undefined ? null : objective.valueOf(outOfSample), objective.show)]),
      shown(choice?.inSample.metrics.total_return, shareText), shown(outOfSample?.metrics.total_return, shareText), outOfSample?.fills ?? '–',
      [status === 'judged' ? 'judged' : `in no average: ${reason ?? status}`, foldLimits({ choice, outOfSample })].filter((said) => said !== '').join('; '),
    ]),
  })}
<p class="note">Each fold begins with the configured money. What it holds at its end counts at what a sale would bring then.</p>`;
}

function shown(value: number | string | null | undefined, as: (value: number) => string): string {
  return typeof value === 'number' ? as(value) : '–';
}

/** To the minute. */
function dayText(at: Millis): string {
  return instantText(at, Infinity);
}

function equityCharts({ result: { folds }, currency }: WalkForwardReport, {
  record, series, benchmarks: { buy_and_hold: holding, dca },
}: JoinedRun): Markup {
  const gaps = folds.flatMap(({ fold, status }): Span[] =>
    (status === 'no_rows' || status === 'no_choice' || status === 'failed'
      ? [{ from: fold.outOfSample.from, until: fold.outOfSample.to }] : []));
  const beside = ([[holding, 'buy and hold', 'second'], [dca, 'DCA', 'third']] as const)
    .flatMap(([benchmark, label, style]): ChartLine[] => (benchmark === undefined ? []
      : [{ label, style, values: atTimes(record.times, series.times, benchmark.series.values) }]));
  let peak = -Infinity;
  const falls = series.values.map((value) => {
    peak = Math.max(peak, value);
    return peak > 0 ? value / peak - 1 : 0;
  });
  const common = { times: record.times, gaps, empty: 'What was held could not be valued.' };
  return markup`${lineChart({
    ...common, title: `Equity out of sample, ${currency}`, kind: 'amount',
    notes: [`Every fold goes on from what the one before came to. Folds begin ${folds.map(({ fold }) => dayText(fold.outOfSample.from)).join(', ')}.`],
    lines: [...beside, { label: 'what was chosen', style: 'main', values: atTimes(record.times, series.times, series.values) }],
  })}
${lineChart({ ...common, title: 'Drawdown: how far below the last peak', kind: 'share', include: [0], lines: [{ label: 'drawdown', style: 'loss', form: 'area', values: atTimes(record.times, series.times, falls) }] })}`;
}

function choiceTables(report: WalkForwardReport): Markup {
  const { result: { folds, stability } } = report;
  return markup`${stability.parameters.length > 0 && dataTable({
    label: 'How choices hold', isWide: true,
    columns: [{ name: 'parameter', isText: true }, { name: 'changes' }, { name: 'chosen, most often first', isText: true }],
    rows: stability.parameters.map(({ strategy, parameter, changes, values }) => [
      `${strategy}.${parameter}`, `${changes} of ${Math.max(0, stability.choices - 1)}`, values.map((chosen) => `${textOf(chosen.value)} (${chosen.folds})`).join(', '),
    ]),
  })}
${folds.length > 0 && choiceMap(report)}`;
}

/** Those that were chosen first, then the best on average. */
function choiceMap({ result: { folds }, sets, objective: name }: WalkForwardReport): Markup {
  const objective = OBJECTIVES[name];
  const valueOf = ({ tried }: FoldOutcome, place: number): HeatValue => {
    const result = tried[place];
    if (result?.kind !== 'done') return { missing: 'it did not run' };
    return objective.valueOf(result)
      ?? { missing: result.fills === 0 ? 'no swap was made' : 'the data do not support the figure' };
  };
  const rows = sets.map((params, place) => {
    const values = folds.map((fold) => valueOf(fold, place));
    const known = values.filter((value) => typeof value === 'number');
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return {
      params, values, chosen: folds.filter(({ choice }) => choice?.place === place).length,
      rank: known.length === 0 ? -Infinity : objective.better === 'higher' ? mean : -mean,
    };
  }).toSorted((a, b) => b.chosen - a.chosen || (b.rank === a.rank ? 0 : b.rank - a.rank)).slice(0, SETS_SHOWN);
  return heatMapFigure({
    title: `${objective.label.slice(0, 1).toUpperCase()}${objective.label.slice(1)} in-sample, by what was tried and `
      + 'by fold',
    measured: objective.label, kind: objective.kind,
    down: {
      name: 'parameters (times chosen)', labels: rows.map(({ params, chosen }) => `${paramsText(params)} (${chosen})`),
    },
    across: { name: 'fold', labels: folds.map(({ fold }) => String(fold.number)) },
    values: rows.map(({ values }) => values),
    middle: objective.better === 'higher' && name !== 'psr' && name !== 'profit_factor' ? 0 : null,
    notes: rows.length < sets.length
      ? [`${rows.length} of ${sets.length} parameter sets are shown: those that were chosen, then the best on average.`]
      : [],
  });
}

function figureSection(
  { assessment, benchmarks: { buy_and_hold, dca, cash } }: JoinedRun, currency: string,
): PageSection {
  const compared = [['out of sample', assessment] as const,
    ...([['buy and hold', buy_and_hold], ['DCA', dca], ['cash', cash]] as const)
      .flatMap(([label, benchmark]) => (benchmark === undefined ? [] : [[label, benchmark.assessment] as const]))];
  return {
    id: 'figures', title: 'Figures out of sample',
    body: markup`${dataTable({
      label: 'Figures out of sample', columns: columnsOf('figure', ...compared.map(([label]) => label)),
      rows: SHOWN_METRICS.filter(({ name }) => notMeaningful(name, assessment) === undefined && compared.some(([, { metrics }]) => metrics[name] !== null))
        .map((metric) => [labelIn(metric, currency), ...compared.map(([, { metrics }]) => shown(metrics[metric.name], metric.show))]),
    })}${noteOf(notMeaningful('cagr', assessment)?.replace(/^/, 'Growth a year and Calmar ratio are '))}${noteOf(notMeaningful('psr', assessment)?.replace(/^/, 'What tells luck from skill is '))}${noteOf(scaledNote(assessment.path))}`,
  };
}

/** What has no value at a time is left out of a series: it leaves a gap. */
function atTimes(times: readonly Millis[], known: readonly Millis[], values: readonly number[]): (number | null)[] {
  let next = 0;
  return times.map((at) => (known[next] === at ? values[next++]! : null));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

function noteOf(text: string | undefined): Markup | false {
  return text !== undefined && markup`<p class="note">${text}</p>`;
}
