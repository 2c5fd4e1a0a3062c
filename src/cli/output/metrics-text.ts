import type { Fact } from './table.ts';
import { facts, table } from './table.ts';
import type { Token } from '../../market/token.ts';
import { ENOUGH_COVERAGE } from '../../research/metrics/equity-series.ts';
import { labelIn, notMeaningful, ratioText, scaledNote, SHOWN_METRICS } from '../../research/metrics/figure-text.ts';
import type { Assessment, Metrics } from '../../research/metrics/metrics.ts';

/** Returns metrics as text, warnings first, then a line each. Metrics without a value appear in the warnings only. */
export function metricsText(assessment: Assessment): string {
  const { metrics, warnings, sharpeInterval, irregular, path } = assessment;
  const rows = SHOWN_METRICS.flatMap(({ name, label, show }): Fact[] => {
    const value = metrics[name];
    if (typeof value !== 'number') return [];
    const interval = name === 'sharpe' && sharpeInterval !== undefined ? `  (${Math.round(sharpeInterval.level * 100)} `
      + `% within ${ratioText(sharpeInterval.low)} to ${ratioText(sharpeInterval.high)})` : '';
    const unsaid = notMeaningful(name, assessment);
    if (unsaid !== undefined) return [[label, `${unsaid} (--json has the number)`]];
    return [[label, `${show(value)}${interval}`], ...(name === 'max_drawdown' ? drawdownFacts(metrics) : [])];
  });
  if (path.coverage < ENOUGH_COVERAGE && irregular?.sharpe !== undefined)
    rows.push(['Sharpe by the points', ratioText(irregular.sharpe)]);
  const note = scaledNote(path);
  return [
    warnings.map(({ message }) => `  ! ${message}\n`).join(''),
    `${facts(rows)}${note === undefined ? '' : `  ${note}\n`}`,
  ].filter((part) => part !== '').join('\n');
}

function drawdownFacts(
  { drawdown_start: start, drawdown_trough: trough, drawdown_recovered: recovered }: Metrics,
): Fact[] {
  if (trough === null) return [];
  const recovery = recovered === null ? 'not recovered' : `recovered ${moment(recovered)}`;
  return [['', `from ${moment(start)}, lowest ${moment(trough)}, ${recovery}`]];
}

function moment(at: string | number | null): string {
  if (at === null) return 'before the first';
  return typeof at === 'number' ? `period ${at}` : at.replace('T', ' ').replace(/(?::00)?\.000Z$/, '');
}

/** A column of a table of metrics. */
interface FigureColumn {
  readonly name: string;
  readonly assessment: Assessment;
}

/** Stands for a metric that can be computed but is not meaningful. */
const NOT_MEANINGFUL = 'n/m';

/**
 * Returns metrics side by side, amounts in the currency, and below them why some are not meaningful. The first column
 * is the main one.
 */
export function figureTable(columns: readonly FigureColumn[], currency: string): string {
  const rows = SHOWN_METRICS.flatMap((metric) => {
    const cells = columns.map(({ assessment }) => cellOf(assessment, metric));
    return cells.every((cell) => cell === '-') ? [] : [[labelIn(metric, currency), ...cells]];
  });
  const path = columns[0]?.assessment.path;
  const unsaid = new Set(columns.flatMap(({ assessment }) =>
    SHOWN_METRICS.filter((metric) => cellOf(assessment, metric) === NOT_MEANINGFUL)
      .map(({ name }) => notMeaningful(name, assessment))));
  const notes = path === undefined ? []
    : [...[...unsaid].map((reason) => `${NOT_MEANINGFUL}: ${reason} (--json has the number)`), scaledNote(path)];
  return table([['', ...columns.map(({ name }) => name)], ...rows], { right: columns.map((_, i) => i + 1) })
    + notes.map((note) => (note === undefined ? '' : `  ${note}\n`)).join('');
}

function cellOf(assessment: Assessment, { name, show }: (typeof SHOWN_METRICS)[number]): string {
  const value: Metrics[keyof Metrics] = assessment.metrics[name];
  if (typeof value !== 'number') return '-';
  return notMeaningful(name, assessment) === undefined ? show(value) : NOT_MEANINGFUL;
}

/** Returns the first and the last equity for `--json`; null when it could not be valued. */
export function equityJson(values: readonly number[], currency: Token): unknown {
  const text = (value: number | undefined): string | null =>
    (value === undefined ? null : currencyText(value, currency));
  return { start: text(values[0]), end: text(values.at(-1)), currency: currency.symbol };
}

/** Returns a value with the decimals of its token, without trailing zeros. */
export function currencyText(value: number, { decimals }: Token): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
