import { equityChart } from './run-charts.ts';
import { canonicalJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { SHOWN_METRICS, labelIn, notMeaningful, scaledNote, shareText } from '../research/metrics/figure-text.ts';
import type { ObjectiveName } from '../research/trials/objectives.ts';
import { OBJECTIVES } from '../research/trials/objectives.ts';
import type { HeatValue } from './charts/heat-map.ts';
import { heatMapFigure } from './charts/heat-map.ts';
import type { Span } from './charts/chart-figure.ts';
import { chartFigure } from './charts/chart-figure.ts';
import type { Markup, NamedText } from '../web/markup.ts';
import { columnsOf, dataTable, markup, namedTable, note } from '../web/markup.ts';
import type { PageSection } from './page.ts';
import { renderPage, splitWarnings } from './page.ts';
import { instantText } from './printed-figures.ts';
import type { TrialParams } from '../research/trials/trial.ts';
import type { JoinedRun, WalkForwardResult } from '../research/walk-forward/walk-forward.ts';
import type { FoldOutcome } from '../research/walk-forward/fold-outcome.ts';
import { foldLimits } from '../research/walk-forward/fold-outcome.ts';
import { paramsText } from '../research/walk-forward/walk-forward-verdict.ts';

/** The input of a walk-forward's report; untrusted text. */
export interface WalkForwardReport {
  /** What was run, for the title. */
  readonly subject: string;
  /** The folds and the objective, in one line. */
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

/** More rows would not be readable. */
const SETS_SHOWN = 40;

/** Returns a walk-forward's report as one self-contained HTML page. */
export function renderWalkForward(report: WalkForwardReport): string {
  const { subject, terms, warnings, verdict, result: { joined } } = report;
  return renderPage({
    title: `Walk-forward of ${subject}`,
    lead: markup`<p class="soft">${terms}</p>`,
    ...splitWarnings(warnings, joined?.assessment.warnings ?? []),
    sentence: markup`${verdict[0]}`,
    sections: [
      ...(joined === undefined ? []
        : [{ id: 'equity', title: 'Equity out of sample', body: equityCharts(report, joined) }]),
      {
        id: 'folds', title: 'Folds',
        body: markup`<div class="verdict">${verdict.slice(1).map((sentence) => markup`<p>${sentence}</p>`)}</div>${
          foldTable(report)}`,
      },
      { id: 'choices', title: 'Chosen parameters', body: choiceTables(report) },
      ...(joined === undefined ? [] : [figureSection(joined, report.currency)]),
      { id: 'parameters', title: 'Configuration', body: namedTable('Configuration of the run', report.parameters) },
      { id: 'hashes', title: 'Hashes', body: namedTable('Hashes of the run', report.hashes) },
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
      ...(isReturn ? [] : [{ name: `${objective.label}, in-sample` }, { name: 'out of sample' }]),
      { name: 'return in-sample' }, { name: 'out of sample' }, { name: 'swaps' }, { name: 'result', isText: true },
    ],
    rows: folds.map(({ fold, choice, outOfSample, status, reason }) => [
      fold.number, spanText(fold.outOfSample), choice === undefined ? '–' : paramsText(choice.params),
      ...(isReturn ? [] : [
        shown(choice?.value, objective.show),
        shown(outOfSample === undefined ? null : objective.valueOf(outOfSample), objective.show),
      ]),
      shown(choice?.inSample.metrics.total_return, shareText), shown(outOfSample?.metrics.total_return, shareText),
      outOfSample?.fills ?? '–',
      [status === 'judged' ? 'judged' : `in no average: ${reason ?? status}`, foldLimits({ choice, outOfSample })]
        .filter((text) => text !== '').join('; '),
    ]),
  })}
${note('Each fold begins with the configured money. Its holdings at the end count at the proceeds of their sale.')}`;
}

function shown(value: number | string | null | undefined, as: (value: number) => string): string {
  return typeof value === 'number' ? as(value) : '–';
}

function spanText({ from, to }: { readonly from: Millis; readonly to: Millis }): Markup {
  return markup`<span class="whole">${dayText(from)} to</span> <span class="whole">${dayText(to)}</span>`;
}

/** Returns an instant to the minute. */
function dayText(at: Millis): string {
  return instantText(at, Infinity);
}

function equityCharts({ result: { folds }, currency }: WalkForwardReport, {
  record, series, benchmarks: { buy_and_hold: holding },
}: JoinedRun): Markup {
  const gaps = folds.flatMap(({ fold, status }): Span[] =>
    (status === 'no_rows' || status === 'no_choice' || status === 'failed'
      ? [{ from: fold.outOfSample.from, until: fold.outOfSample.to }] : []));
  const starts = folds.map(({ fold }) => dayText(fold.outOfSample.from));
  return chartFigure(equityChart({
    title: `Equity out of sample, ${currency}`, currency, own: 'chosen parameters', series,
    holding: holding?.series.values,
  }, { times: record.times, gaps }), [
    `Each fold continues with the equity of the one before. Folds begin ${starts.join(', ')}.`,
  ]);
}

function choiceTables(report: WalkForwardReport): Markup {
  const { result: { folds, stability } } = report;
  return markup`${stability.parameters.length > 0 && dataTable({
    label: 'Stability of choices', isWide: true,
    columns: [
      { name: 'parameter', isText: true }, { name: 'changes' }, { name: 'chosen, most often first', isText: true },
    ],
    rows: stability.parameters.map(({ strategy, parameter, changes, values }) => [
      `${strategy}.${parameter}`, `${changes} of ${Math.max(0, stability.choices - 1)}`,
      values.map((chosen) => `${textOf(chosen.value)} (${chosen.folds})`).join(', '),
    ]),
  })}
${folds.length > 0 && choiceMap(report)}`;
}

/** Returns a heat map with the chosen parameter sets first, then the best on average. */
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
  const given = SHOWN_METRICS.filter(({ name }) => (
    notMeaningful(name, assessment) === undefined && compared.some(([, { metrics }]) => metrics[name] !== null)));
  const notes = [
    notMeaningful('cagr', assessment)?.replace(/^/, 'Growth a year and Calmar ratio are '),
    notMeaningful('psr', assessment)?.replace(/^/, 'The figures that separate luck from skill are '),
    scaledNote(assessment.path),
  ];
  return {
    id: 'figures', title: 'Figures out of sample',
    body: markup`${dataTable({
      label: 'Figures out of sample', columns: columnsOf('figure', ...compared.map(([label]) => label)),
      rows: given.map((metric) => (
        [labelIn(metric, currency), ...compared.map(([, { metrics }]) => shown(metrics[metric.name], metric.show))])),
    })}${notes.flatMap((text) => (text === undefined ? [] : [note(text)]))}`,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
