import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { changeText, unitText } from '../number-text.ts';
import type { ChartLine, TimeChartData } from './chart-data.ts';

const MOST_ROWS = 120;
const MARK_WORDS = { buy: 'buy', sell: 'sale', deposit: 'deposit', withdrawal: 'withdrawal' } as const;

/** Returns what a chart shows in sentences: for screen readers, and for pages without a script. */
export function chartSummary(data: TimeChartData): string {
  const lines = data.lines.flatMap((line) => lineSummary(line, data) ?? []);
  if (lines.length === 0) return data.empty;
  const counts = Object.entries(MARK_WORDS).flatMap(([kind, word]) => {
    const count = data.marks.filter((mark) => mark.kind === kind).length;
    return count === 0 ? [] : [pluralize(count, word)];
  });
  const levels = data.levels.map(({ label, value }) => `${label} at ${unitText(value, data.units[0]!)}`);
  return [
    ...lines, ...counts.length === 0 ? [] : [`${counts.join(', ')} marked.`],
    ...levels.length === 0 ? [] : [`Levels: ${levels.join(', ')}.`],
  ].join(' ');
}

function lineSummary({ label, points, pane }: ChartLine, { units }: TimeChartData): string | undefined {
  const unit = units[pane]!;
  let [first, last, low, high]: (number | undefined)[] = [];
  for (const [, value] of points) {
    if (value === null) continue;
    first ??= value;
    last = value;
    low = Math.min(low ?? value, value);
    high = Math.max(high ?? value, value);
  }
  if (first === undefined) return undefined;
  const [from, to] = [unitText(first, unit), unitText(last!, unit)];
  const change = unit.kind === 'share' ? '' : ` (${changeText(last! / first - 1, { kind: 'share' })})`;
  const course = from === to ? `at ${to}` : `from ${from} to ${to}${first > 0 ? change : ''}`;
  return `${label} ${course}, lowest ${unitText(low!, unit)}, highest ${unitText(high!, unit)}.`;
}

/** A chart as a table. */
export interface ChartTable {
  readonly names: readonly string[];
  readonly rows: readonly { readonly at: Millis; readonly values: readonly string[] }[];
}

/** Returns the values of a chart as a table of at most 120 rows, the newest first. */
export function chartTable({ lines, units, marks }: TimeChartData): ChartTable {
  const times = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].toSorted((a, b) => b - a);
  const every = Math.ceil(times.length / MOST_ROWS);
  const shown = times.filter((_, i) => i % every === 0);
  const texts = lines.map(({ points, pane }) => new Map(points.map(([at, value]) =>
    [at, value === null ? '–' : unitText(value, units[pane]!)])));
  const marked = new Map<Millis, string[]>();
  for (const { at, text } of marks) {
    const row = shown.find((time) => time <= at) ?? shown.at(-1);
    if (row !== undefined) marked.set(row, [...marked.get(row) ?? [], text]);
  }
  return {
    names: [...lines.map(({ label }) => label), ...marks.length === 0 ? [] : ['what happened']],
    rows: shown.map((at) => ({
      at,
      values: [...texts.map((text) => text.get(at) ?? '–'),
        ...marks.length === 0 ? [] : [(marked.get(at) ?? []).join('; ')]],
    })),
  };
}
