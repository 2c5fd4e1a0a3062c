import { currencyText } from '../../output/metrics-text.ts';
import { table } from '../../output/table.ts';
import { groupThousands, printable } from '../../../core/text.ts';
import type { Token } from '../../../market/token.ts';
import { ratioText, shareText } from '../../../research/metrics/figure-text.ts';
import type { Metrics } from '../../../research/metrics/metrics.ts';
import type { SweepRow } from '../../../research/sweep/grid.ts';
import { axisName, combinationCount, combinationText, valueName } from '../../../research/sweep/grid.ts';
import { ranked } from '../../../research/sweep/run-sweep.ts';
import type { BestRow, SweepOutcome } from '../../../research/sweep/sweep-outcome.ts';
import { confidenceSentence, effortSentence, neighbourhoodSentence } from '../../../research/sweep/sweep-outcome.ts';
import { deniedCells } from '../../../research/trials/denial-summary.ts';
import { OBJECTIVES } from '../../../research/trials/objectives.ts';
import type { TrialParams } from '../../../research/trials/trial.ts';
import { trialsJson } from '../../../research/trials/verdict.ts';

/** The metrics of each combination in the table of `--json`. */
const TABLE_METRICS = [
  'total_return', 'cagr', 'sharpe', 'sortino', 'calmar', 'max_drawdown', 'profit_factor', 'expectancy', 'win_rate',
  'turnover', 'fees_paid', 'psr',
] as const satisfies readonly (keyof Metrics)[];

/** The figures that the text shows beside the objective. */
const BESIDE = [
  { name: 'total_return', label: 'total return', show: shareText },
  { name: 'max_drawdown', label: 'max drawdown', show: shareText },
  { name: 'profit_factor', label: 'profit factor', show: ratioText },
] as const;

const ROWS_SHOWN = 10;
const REASONS_SHOWN = 5;

/** Returns the answer for `--json`, the table best first. `report` is the path of the written report. */
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

/** Returns the answer as text: the best combinations, how reliable they are, and what failed. */
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
      ? '  best       none: no combination has this figure, because none traded, or the recording is too short\n'
      : `  best       ${combinationText(best.params)}: ${show(best.value!)}\n`,
    ...(best === undefined ? [] : [
      `  confidence ${confidenceSentence(outcome)}\n`, `  neighbours ${neighbourhoodSentence(best, objective)}\n`,
      `  hash       ${best.result.decisionHash}\n`,
    ]),
    `  kept in    ${effort.file}\n`,
    ...(report === undefined ? [] : [`  report     ${report}\n`]),
    ...(shown.length === 0 ? [] : ['\n', table([
      ['#', ...varied.map(axisName), label, ...beside.map(({ label: name }) => name), 'swaps', 'denied', 'mainly by'],
      ...shown.map(({ point, value, result: { metrics, fills, denials } }, i) => [
        String(i + 1), ...varied.map((axis) => valueName(axis.values[point[axes.indexOf(axis)]!]!)), given(value, show),
        ...beside.map((column) => given(metrics[column.name], column.show)), groupThousands(String(fills)),
        ...deniedCells(denials),
      ]),
    ], {
      right: Array.from({ length: varied.length + beside.length + 4 }, (_, i) => i),
      // The last columns are omitted first: the main denial, then the figures beside the objective.
      optional: Array.from({ length: beside.length + 3 }, (_, i) => varied.length + beside.length + 4 - i),
    }), rows.length > shown.length
      ? `  … and ${rows.length - shown.length} more: see --json or --report\n` : '']),
    ...reasons('refused before the trial', outcome.refused),
    ...reasons('failed', outcome.failed),
  ].join('');
}

function given(value: number | null, show: (value: number) => string): string {
  return value === null ? '-' : show(value);
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
      ? [`          … and ${sorted.length - REASONS_SHOWN} more reasons: see --json\n`] : []),
  ];
}

function bestJson(best: BestRow, currency: Token): unknown {
  const { neighbourhood: { shape: ground, neighbours, median, medianOfAll }, metrics, isRepeatable, result: {
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

/** Returns parameters by the names of the grid file. */
function flat(params: TrialParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(params).flatMap(([strategy, own]) =>
    Object.entries(own).map(([param, value]) => [`${strategy}.${param}`, value])));
}
