import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ComparedRun } from '../../input/compared-run.ts';
import { readComparedRun } from '../../input/compared-run.ts';
import { table } from '../../output/table.ts';
import type { RunTerms } from '../../../backtest/record/run-record.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { YEAR_MS } from '../../../research/metrics/equity-series.ts';
import { labelIn, notMeaningful, SHOWN_METRICS } from '../../../research/metrics/figure-text.ts';
import { luckUnknownBy } from '../../../research/metrics/metrics.ts';
import { SHOWN_STATISTICS } from '../../../research/metrics/shown-statistics.ts';

/** More runs do not fit beside one another. */
const MOST_RUNS = 8;
const LETTERS = 'ABCDEFGH';
const NOT_MEANINGFUL = 'n/m';

export const compareCommand: CommandModule = (program, run) => {
  program.command('compare <runs...>')
    .description('compares backtests: their reports, their answers with --json, or the ids of their runs')
    .addHelpText('after', example('gannet compare backtest-1a2b3c4d state/reports/other.html'))
    .action(run(async ({ terminal, options }: CommandContext, sources: readonly string[]) => {
      if (sources.length < 2 || sources.length > MOST_RUNS)
        throw new GannetError('USAGE', `expected 2 to ${MOST_RUNS} backtests to compare, got ${sources.length}`);
      const runs = sources.map((source) => readComparedRun(options.stateDir, source));
      const rows = figureRows(runs);
      const warnings = comparisonWarnings(runs);
      terminal.result(asJson(runs, rows, warnings), () => asText(runs, rows, warnings));
      return EXIT.done;
    }));
};

/** A figure of each run, and its difference from that of the first. */
interface FigureRow {
  readonly name: string;
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly differences: readonly (number | null)[];
  readonly show: (value: number) => string;
  /** For each run, whether people see its value. */
  readonly areMeaningful: readonly boolean[];
}

function figureRows(runs: readonly ComparedRun[]): FigureRow[] {
  const currency = runs[0]?.terms?.currency;
  const withDifferences = (row: Omit<FigureRow, 'differences'>): FigureRow[] => {
    const [first = null] = row.values;
    return row.values.every((value) => value === null) ? [] : [{
      ...row,
      differences: row.values.map((value) => (value === null || first === null ? null : value - first)),
    }];
  };
  return [
    ...SHOWN_METRICS.flatMap((metric) => withDifferences({
      name: metric.name, label: currency === undefined ? metric.label : labelIn(metric, currency), show: metric.show,
      values: runs.map(({ metrics }) => {
        const value = metrics[metric.name];
        return typeof value === 'number' ? value : null;
      }),
      areMeaningful: runs.map(({ metrics, isMadeUp, terms }) => notMeaningful(metric.name, {
        path: { years: yearsOf(terms) }, luckUnknown: luckUnknownBy(metrics, isMadeUp),
      }) === undefined),
    })),
    ...SHOWN_STATISTICS.flatMap(({ name, label, pick, show }) => withDifferences({
      name, label, show, areMeaningful: runs.map(() => true),
      values: runs.map(({ statistics }) => (statistics === undefined ? null : pick(statistics))),
    })),
  ];
}

function yearsOf(terms: RunTerms | undefined): number | undefined {
  return terms === undefined ? undefined : (Date.parse(terms.to) - Date.parse(terms.from)) / YEAR_MS;
}

/** Returns why the figures of runs cannot be compared as they stand. */
function comparisonWarnings(runs: readonly ComparedRun[]): string[] {
  const silent = runs.flatMap(({ terms }, i) => (terms === undefined ? [LETTERS[i]!] : []));
  const differing = (what: string, pick: (terms: RunTerms) => string): string[] => {
    const given = runs.flatMap(({ terms }, i) =>
      (terms === undefined ? [] : [{ letter: LETTERS[i]!, value: pick(terms) }]));
    if (new Set(given.map(({ value }) => value)).size < 2) return [];
    return [`${what}: ${given.map(({ letter, value }) => `${letter} ${printable(value, 300)}`).join('; ')}`];
  };
  return [
    ...(silent.length === 0 ? [] : [`${silent.join(' and ')} ${silent.length === 1 ? 'does' : 'do'} not state data, `
      + 'span and costs: an earlier version made it']),
    ...differing('the data differ', ({ recording, data }) => `${recording} (${data.slice(0, 8)})`),
    ...differing('the span differs', ({ from, to }) => `${minuteText(from)} to ${minuteText(to)}`),
    ...differing('the currency differs', ({ currency }) => currency),
    ...differing('the simulation setting differs', ({ setting }) => setting),
    ...costNames(runs).flatMap((name) => differing(`the costs differ (${name})`, ({ costs }) => costs[name] ?? 'none')),
    ...differing('the money differs', ({ money }) => money.join(', ')),
    ...(runs.some(({ isMadeUp }) => isMadeUp)
      ? ['the market is generated: no figure says anything about a real market'] : []),
  ];
}

function costNames(runs: readonly ComparedRun[]): string[] {
  return [...new Set(runs.flatMap(({ terms }) => Object.keys(terms?.costs ?? {})))];
}

function asJson(runs: readonly ComparedRun[], rows: readonly FigureRow[], warnings: readonly string[]): unknown {
  return {
    runs: runs.map(({ source, metrics, terms }, i) => ({ name: LETTERS[i], source, terms: terms ?? null, metrics })),
    figures: rows.map(({ name, label, values, differences }) => ({ name, label, values, differences })),
    warnings,
  };
}

function asText(runs: readonly ComparedRun[], rows: readonly FigureRow[], warnings: readonly string[]): string {
  const letters = runs.map((_, i) => LETTERS[i]!);
  const valueCells = ({ values, areMeaningful, show }: FigureRow): string[] => values.map((value, i) =>
    (value === null ? '-' : areMeaningful[i] === true ? show(value) : NOT_MEANINGFUL));
  const differenceCells = ({ differences, areMeaningful, show }: FigureRow): string[] =>
    differences.slice(1).map((value, i) => {
      if (value === null) return '-';
      return areMeaningful[0] === true && areMeaningful[i + 1] === true ? signedText(value, show) : NOT_MEANINGFUL;
    });
  const named = letters.slice(1).map((letter) => `${letter} - A`);
  const right = letters.map((_, i) => i + 1);
  const body = runs.length === 2
    ? table([
      ['', ...letters, ...named], ...rows.map((row) => [row.label, ...valueCells(row), ...differenceCells(row)]),
    ], { right: [1, 2, 3] })
    : [
      table([['', ...letters], ...rows.map((row) => [row.label, ...valueCells(row)])], { right }),
      table([['difference from A', ...named], ...rows.map((row) => [row.label, ...differenceCells(row)])], { right }),
    ].join('\n');
  return [
    ...warnings.map((warning) => `  ! ${warning}\n`), ...(warnings.length === 0 ? [] : ['\n']),
    ...runs.map(({ source, terms }, i) => `  ${letters[i]!}  ${printable(source, 200)}${terms === undefined ? ''
      : `: ${printable(terms.recording, 60)}, ${minuteText(terms.from)} to ${minuteText(terms.to)}`}\n`),
    '\n', body, '  differences of percentages are in percentage points\n',
  ].join('');
}

/** A difference that is shown as 0 has no sign. */
function signedText(value: number, show: (value: number) => string): string {
  const text = show(Math.abs(value));
  return /[1-9]/.test(text) ? `${value < 0 ? '-' : '+'}${text}` : text;
}

function minuteText(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
