import { denialSummary } from '../../../research/trials/denial-summary.ts';
import type { Metrics } from '../../../research/metrics/metrics.ts';
import { ratioText, shareText } from '../../../research/metrics/figure-text.ts';
import { OBJECTIVES } from '../../../research/trials/objectives.ts';
import { axisName, combinationCount, valueName } from '../../../research/sweep/grid.ts';
import type { BestRow, SweepOutcome, SweepRow } from '../../../research/sweep/sweep-outcome.ts';
import { confidenceSentence, effortSentence, neighbourhoodSentence } from '../../../research/sweep/sweep-outcome.ts';
import type { TrialParams } from '../../../research/trials/trial.ts';
import { grouped } from '../../../core/counted.ts';
import { printable } from '../../../core/text.ts';
import type { Token } from '../../../market/token.ts';
import { currencyText } from '../../output/metrics-text.ts';
import { trialsJson } from '../../../research/trials/verdict.ts';
import { table } from '../../output/table.ts';
import { ranked } from '../../../research/sweep/run-sweep.ts';

/** What of each combination stands in the table for scripts. */
const TABLE_METRICS = [
  'total_return', 'cagr', 'sharpe', 'sortino', 'calmar', 'max_drawdown', 'profit_factor', 'expectancy', 'win_rate',
  'turnover', 'fees_paid', 'psr',
] as const satisfies readonly (keyof Metrics)[];

/** What people are shown beside the objective. */
const BESIDE = [
  { name: 'total_return', label: 'total return', show: shareText },
  { name: 'max_drawdown', label: 'deepest drawdown', show: shareText },
  { name: 'profit_factor', label: 'profit factor', show: ratioText },
] as const;

const ROWS_SHOWN = 10;
const REASONS_SHOWN = 5;

/** Returns the answer for scripts, the table best first. `report` is where the report was written. */
export function asJson(outcome: SweepOutcome, report: string | undefined): unknown {
  const { grid, objective, rows, refused, failed, best, counted, effort, currency, warnings } = outcome;
  return {
    trials: rows.length,
    refused: refused.map(({ params, reason }) => ({ params: flat(params), reason })),
    failed: failed.map(({ params, reason }) => ({ params: flat(params), reason })),
    objective: { name: objective, better: OBJECTIVES[objective].better },
    search: grid.search.kind,
    combinations: combinationCount(grid.axes),
    best: best === undefined ? null : bestJson(best, currency),
    deflated_sharpe: best?.metrics.dsr ?? null,
    counted: trialsJson(counted),
    table: ranked(rows, objective).map((row) => rowJson(row, currency)),
    ran: effort.ran,
    resumed: effort.resumed,
    workers: effort.workers,
    seconds: effort.seconds,
    evaluations: effort.events,
    evaluations_per_second: effort.seconds === 0 ? null : Math.round(effort.events / effort.seconds),
    state: effort.file,
    warnings,
    report: report ?? null,
  };
}

/** Returns the answer for people: the best ones, how sure one can be of them, and what was left out. */
export function asText(outcome: SweepOutcome, report: string | undefined): string {
  const { grid: { axes }, objective, rows, best, effort, warnings } = outcome;
  const { label, better, show } = OBJECTIVES[objective];
  const varied = axes.filter(({ values }) => values.length > 1);
  const shown = ranked(rows, objective).slice(0, ROWS_SHOWN);
  const beside = BESIDE.filter(({ name }) => name !== objective);
  return [
    ...warnings.map((warning) => `  ! ${warning}\n`),
    warnings.length > 0 ? '\n' : '',
    `  trials     ${effortSentence(outcome)}\n`,
    `  objective  ${label}, the ${better} the better\n`,
    best === undefined
      ? '  best       none: no combination has this figure, since none of them traded, or the recording is too short '
        + `for it\n`
      : `  best       ${paramsText(best.params)}: ${show(best.value!)}\n`,
    ...(best === undefined ? [] : [
      `  sure?      ${confidenceSentence(outcome)}\n`, `  around it  ${neighbourhoodSentence(best, objective)}\n`,
      `  hash       ${best.result.decisionHash}\n`,
    ]),
    `  kept in    ${effort.file}\n`,
    ...(report === undefined ? [] : [`  report     ${report}\n`]),
    ...(shown.length === 0 ? [] : ['\n', table([
      ['#', ...varied.map(axisName), label, ...beside.map(({ label: name }) => name), 'swaps', 'denied', 'mostly by'],
      ...shown.map(({ point, value, result: { metrics, fills, denials } }, i) => [
        String(i + 1), ...varied.map((axis) => valueName(axis.values[point[axes.indexOf(axis)]!]!)), given(value, show),
        ...beside.map((column) => given(metrics[column.name], column.show)), grouped(String(fills)),
        ...deniedCells(denials),
      ]),
    ], {
      right: Array.from({ length: varied.length + beside.length + 4 }, (_, i) => i),
      // The last columns first: what refused most, then the figures beside the objective.
      optional: Array.from({ length: beside.length + 3 }, (_, i) => varied.length + beside.length + 4 - i),
    }), rows.length > shown.length
      ? `  … and ${rows.length - shown.length} more: --json or --report has them all\n` : '']),
    ...reasons('refused, and no trial', outcome.refused),
    ...reasons('failed', outcome.failed),
  ].join('');
}

function given(value: number | null, show: (value: number) => string): string {
  return value === null ? '-' : show(value);
}

/** Returns how many swaps were refused, and the code that most of them were refused by. */
export function deniedCells(denials: SweepRow['result']['denials']): [count: string, code: string] {
  const denied = denialSummary(denials);
  return denied === undefined ? ['0', ''] : [grouped(String(denied.count)), denied.code];
}

function reasons(
  title: string, points: readonly { readonly params: TrialParams; readonly reason: string }[],
): string[] {
  if (points.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { reason } of points) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return [
    `\n  ${title}:\n`,
    ...sorted.slice(0, REASONS_SHOWN)
      .map(([reason, count]) => `  ${String(count).padStart(6)}  ${printable(reason, 300)}\n`),
    ...(sorted.length > REASONS_SHOWN
      ? [`          … and ${sorted.length - REASONS_SHOWN} more reasons: --json has them all\n`] : []),
  ];
}

function bestJson(best: BestRow, currency: Token): unknown {
  const { neighbourhood: { ground, neighbours, median, medianOfAll }, metrics, isRepeatable, result: {
    events, decisions, warnings,
  } } = best;
  return {
    ...rowJson(best, currency) as object, events, decisions, metrics, warnings,
    repeatable: isRepeatable ?? null,
    neighbourhood: { ground, median, median_of_all: medianOfAll, neighbours: neighbours.map(
      ({ param, from, to, value, limited }) => ({ param, from, to, objective: value, limited }),
    ) },
  };
}

function rowJson(
  { params, value, result: { decisionHash, fills, denials, idle, equity, metrics } }: SweepRow, currency: Token,
): unknown {
  const money = (amount: number | null): string | null => (amount === null ? null : currencyText(amount, currency));
  return {
    params: flat(params), objective: value, fills, denials, idle,
    equity: { start: money(equity.start), end: money(equity.end), currency: currency.symbol },
    metrics: Object.fromEntries(TABLE_METRICS.map((name) => [name, metrics[name]])),
    decision_hash: decisionHash,
  };
}

/** As the grid's file names them. */
function flat(params: TrialParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(params).flatMap(([strategy, own]) =>
    Object.entries(own).map(([param, value]) => [`${strategy}.${param}`, value])));
}

/** Returns parameters for people: "sol-trend.fast 20, sol-trend.slow 60". */
export function paramsText(params: TrialParams): string {
  return printable(Object.entries(params).flatMap(
    ([strategy, own]) => Object.entries(own).map(([param, value]) => `${strategy}.${param} ${valueName(value)}`),
  ).join(', '), 500);
}
