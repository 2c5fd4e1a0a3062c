import type { Assessment, Metrics } from '../backtest/metrics/metrics.ts';
import { labelIn, notMeaningful, scaledNote, SHOWN_METRICS } from '../backtest/metrics/shown-metrics.ts';
import { table } from './table.ts';

/** Somebody whose figures stand beside those of others. */
export interface FigureColumn {
  readonly name: string;
  readonly assessment: Assessment;
}

/** What stands where a figure can be computed, and says nothing. */
export const NOT_MEANINGFUL = 'n/m';

/** Returns figures side by side, amounts with their currency, and below them why some say nothing. The first column is the one that it is about. */
export function figureTable(columns: readonly FigureColumn[], currency: string): string {
  const rows = SHOWN_METRICS.flatMap((metric) => {
    const cells = columns.map(({ assessment }) => cellOf(assessment, metric));
    return cells.every((cell) => cell === '-') ? [] : [[labelIn(metric, currency), ...cells]];
  });
  const path = columns[0]?.assessment.path;
  const unsaid = new Set(columns.flatMap(({ assessment }) => SHOWN_METRICS.filter((metric) => cellOf(assessment, metric) === NOT_MEANINGFUL).map(({ name }) => notMeaningful(name, assessment))));
  const notes = path === undefined ? [] : [...[...unsaid].map((reason) => `${NOT_MEANINGFUL}: ${reason} (--json has the number)`), scaledNote(path)];
  return `${table([['', ...columns.map(({ name }) => name)], ...rows], { right: columns.map((_, i) => i + 1) })}${notes.map((note) => (note === undefined ? '' : `  ${note}\n`)).join('')}`;
}

function cellOf(assessment: Assessment, { name, show }: (typeof SHOWN_METRICS)[number]): string {
  const value: Metrics[keyof Metrics] = assessment.metrics[name];
  if (typeof value !== 'number') return '-';
  return notMeaningful(name, assessment) === undefined ? show(value) : NOT_MEANINGFUL;
}
