import type { Millis } from '../../core/time.ts';
import type { ChartLine, ChartPoint, TimeChartData } from '../../web/charts/chart-data.ts';
import { chartSummary, chartTable } from '../../web/charts/chart-text.ts';
import type { Markup } from '../../web/markup.ts';
import { dataTable, markup, note } from '../../web/markup.ts';
import { packData } from '../embedded-data.ts';
import { instantText } from '../printed-figures.ts';
import { packChart } from '../packed-columns.ts';
import { drawnPoints } from './downsample.ts';

/** A span of time. */
export interface Span {
  readonly from: Millis;
  readonly until: Millis;
}

/** Four points of each of so many parts are drawn: the steps of a chart are then nearly as many as it can have. */
const PARTS = 800;
/** More digits than a chart can show. */
const DIGITS = 10;

/** Values over time as columns, which may be long. */
export interface Columns {
  /** They rise strictly. */
  readonly times: readonly Millis[];
  /** Nothing was recorded in them, so that the line is interrupted there. */
  readonly gaps?: readonly Span[] | undefined;
  readonly parts?: number | undefined;
}

/** Returns the points of a line that show each extreme and each gap of its values; null interrupts it. */
export function pointsOf(
  values: readonly (number | null)[], { times, gaps = [], parts = PARTS }: Columns,
): readonly ChartPoint[] {
  const known = outsideGaps(times, values, gaps);
  const points: ChartPoint[] = [];
  for (const place of drawnPoints(known, { times, parts })) {
    const value = known[place]!;
    if (value === null && (points.at(-1)?.[1] ?? null) === null) continue;
    points.push([times[place]!, value === null ? null : Number(value.toPrecision(DIGITS))]);
  }
  return points;
}

/**
 * Returns the place of a chart with its data, which the page's script draws. Without a script it is the course of each
 * line in words, and its values in a table.
 */
export function chartFigure(data: TimeChartData, notes: readonly (string | false)[] = []): Markup {
  const { title, empty, lines } = data;
  const shown = notes.filter((text) => text !== false).map(note);
  if (!lines.some(({ points }) => points.some(([, value]) => value !== null)))
    return markup`<figure class="chart"><figcaption>${title}</figcaption><p class="none">${empty}</p></figure>`;
  return markup`<div class="chart"><div class="chart-text"><p class="chart-title">${title}</p><p>${
    chartSummary(data)}</p>${valueTable(data)}</div><script type="text/plain" class="chart-data">${
    packData(packChart(data))}</script>${shown}</div>
`;
}

function valueTable(data: TimeChartData): Markup {
  const { names, rows } = chartTable(data);
  return markup`<details><summary>Values as a table</summary>${dataTable({
    label: `${data.title}: values`, isWide: true,
    columns: [{ name: 'time, UTC', isText: true }, ...names.map((name) => ({ name }))],
    rows: rows.map(({ at, values }) => [instantText(at), ...values]),
  })}</details>`;
}

/** The last value before a gap may still hold at its very end. */
function outsideGaps(
  times: readonly Millis[], values: readonly (number | null)[], gaps: readonly Span[],
): readonly (number | null)[] {
  if (gaps.length === 0) return values;
  let next = 0;
  return values.map((value, i) => {
    const at = times[i]!;
    while (next < gaps.length && gaps[next]!.until < at) next += 1;
    return next < gaps.length && at > gaps[next]!.from ? null : value;
  });
}

/** The part of a chart that is the same for all charts of a page without marks. */
export const PLAIN: Pick<TimeChartData, 'marks' | 'levels'> = { marks: [], levels: [] };

/** Returns a line of a chart. */
export function lineOf(
  label: string, points: ChartLine['points'], style: Partial<Pick<ChartLine, 'tone' | 'form' | 'pane'>> = {},
): ChartLine {
  return { label, points, tone: 'main', form: 'line', pane: 0, ...style };
}
