import { yearsOf, instantText } from './printed-figures.ts';
import type { Markup } from '../web/markup.ts';
import { markup, note } from '../web/markup.ts';
import type { HeatCell } from './charts/heat-map.ts';
import { heatMapFigure } from './charts/heat-map.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const DAY_MS = 86_400_000;
/** The first Monday after 1 January 1970. */
const MONDAY_MS = 4 * DAY_MS;
const WEEK_MS = 7 * DAY_MS;
/** More weeks than a year would not be read. */
const MOST_WEEKS = 53;
/** Fewer weeks are open from the beginning. */
const FEW_WEEKS = 9;

/** Returns heat maps of the returns by month and by day. */
export function returnMaps(input: ReportInput, figures: ReportFigures): Markup {
  if (input.run.series.times.length < 2)
    return markup`<p class="none">The holdings could not be valued over any span of time.</p>`;
  return markup`${monthMap(input, figures)}${dayMap(figures)}${
    note('By UTC. The first and the last month or day may be a part of one.')}`;
}

function monthMap({ months }: ReportInput, { figure }: ReportFigures): Markup {
  const shown = MONTHS.flatMap((name, i) =>
    (months.some(({ month }) => month === i + 1) ? [{ name, number: i + 1 }] : []));
  const years = yearsOf(months);
  return heatMapFigure({
    title: 'Returns by month', measured: 'return', kind: 'share',
    down: { name: 'year', labels: years.map(({ year }) => String(year)) },
    across: { name: 'month', labels: shown.map(({ name }) => name) },
    values: years.map(({ months: own }) => shown.map(({ number }): HeatCell => {
      const month = own.find((each) => each.month === number);
      return month === undefined ? null : month.change ?? { missing: 'the month began with 0 or less' };
    })),
    total: { name: 'year', texts: years.map(({ year }) => figure(`year ${year}`)) },
    textOf: (row, column) => figure(`month ${years[row]!.year}-${shown[column]!.number}`),
  });
}

/** Returns the number of a week, which begins on Monday. */
function weekOf(at: number): number {
  return Math.floor((at - MONDAY_MS) / WEEK_MS);
}

function dayMap({ figure, statistics }: ReportFigures): Markup | false {
  const days = new Map(statistics.daily_returns.map(({ day, change }) => [Date.parse(day), { day, change }]));
  if (days.size === 0) return false;
  const [first, last] = [weekOf(Math.min(...days.keys())), weekOf(Math.max(...days.keys()))];
  const from = Math.max(first, last - MOST_WEEKS + 1);
  const mondays = Array.from({ length: last - from + 1 }, (_, i) => (from + i) * WEEK_MS + MONDAY_MS);
  const map = heatMapFigure({
    title: 'Returns by day', measured: 'return', kind: 'share', isNarrow: true,
    down: { name: 'week of', labels: mondays.map((at) => instantText(at).slice(0, 10)) },
    across: { name: 'day', labels: WEEKDAYS },
    values: mondays.map((monday) => WEEKDAYS.map((_, i) => days.get(monday + i * DAY_MS)?.change ?? null)),
    textOf: (row, column) => figure(`day ${days.get(mondays[row]! + column * DAY_MS)!.day}`),
    notes: from > first ? [`The last ${MOST_WEEKS} of ${last - first + 1} weeks.`] : [],
  });
  return mondays.length <= FEW_WEEKS ? map
    : markup`<details class="fold"><summary>Returns by day: ${mondays.length} weeks</summary>${map}</details>`;
}
