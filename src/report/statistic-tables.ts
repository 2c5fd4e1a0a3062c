import { shortDuration } from '../core/time.ts';
import { factOf } from '../research/metrics/metric-warnings.ts';
import type { RunStatistics } from '../research/metrics/run-statistics.ts';
import type { ChartPoint } from '../web/charts/chart-data.ts';
import type { Cell, Markup } from '../web/markup.ts';
import { columnsOf, dataTable, markup, note } from '../web/markup.ts';
import { chartFigure, lineOf, PLAIN } from './charts/chart-figure.ts';
import type { ORDER_ROWS, TradeRow } from './printed-statistics.ts';
import {
  DAY_STATISTICS, DRAWDOWN_COLUMNS, GROUP_COLUMNS, PERCENTILES, TRADE_STATISTICS,
} from './printed-statistics.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';

/** Returns the statistics of trades and days, the deepest drawdowns, rolling figures, and other orders of trades. */
export function statisticTables(input: ReportInput, figures: ReportFigures): Markup {
  const { statistics } = figures;
  return markup`<div class="side-by-side">${shownTable('Trades', TRADE_STATISTICS, { input, figures })}${
    shownTable('Days', DAY_STATISTICS, { input, figures })}</div>
<h3>Worst drawdowns</h3>${drawdownTable(input, figures)}
<h3>Rolling figures</h3>${rollingCharts(statistics)}
<h3>Order of the trades (Monte Carlo)</h3>${orderTable(input, figures)}`;
}

function shownTable(title: string, shown: typeof TRADE_STATISTICS, { input, figures }: {
  readonly input: ReportInput; readonly figures: ReportFigures;
}): Markup {
  const { figure, isGiven, statistics: { warnings } } = figures;
  const { currency } = input.run.record;
  return markup`<div><h3>${title}</h3>${dataTable({
    label: `Statistics: ${title.toLowerCase()}`, isWide: true,
    columns: [{ name: 'statistic', isText: true }, { name: 'value' }],
    rows: shown.map(({ name, label, meaning, isMoney, figure: affected }): Cell[] => {
      const isThere = isGiven(`statistic.${name}`);
      const why = isThere ? undefined : warnings.find((warning) => warning.figures.includes(affected ?? name));
      return [
        markup`${label}${isMoney === true && `, ${currency}`}<br><span class="soft">${
          why === undefined ? meaning : factOf(why)}</span>`,
        figure(`statistic.${name}`),
      ];
    }),
  })}</div>`;
}

/** Returns tables of the trades by pair and by the reasons of their entries and exits. */
export function groupTables(
  { run: { record: { currency } } }: ReportInput, { figure, statistics }: ReportFigures,
): Markup {
  const { by_pair: pairs, by_entry_reason: entries, by_exit_reason: exits } = statistics;
  const table = (title: string, name: string, rows: readonly TradeRow[]): Markup | false =>
    rows.length > 0 && markup`<h3>${title}</h3>${dataTable({
      label: title, isWide: true,
      columns: columnsOf(
        title.replace('By ', ''), 'trades', 'win rate', `profit, ${currency}`, 'profit, %', 'profit factor',
        'mean duration',
      ),
      rows: rows.map((row, i) => [
        markup`<bdi>${row.name}</bdi>`,
        ...Object.keys(GROUP_COLUMNS).map((column) => figure(`${name} ${i + 1}.${column}`)),
      ]),
    })}`;
  return markup`${table('By pair', 'pair', pairs)}${table('By entry reason', 'entry reason', entries)}${
    table('By exit reason', 'exit reason', exits)}`;
}

function drawdownTable({ run: { record: { currency } } }: ReportInput, { figure, statistics }: ReportFigures): Markup {
  const { drawdowns } = statistics;
  if (drawdowns.length === 0) return markup`<p class="none">The equity was never below its peak.</p>`;
  return dataTable({
    label: 'Worst drawdowns', isWide: true,
    columns: columnsOf('#', 'depth', `depth, ${currency}`, 'from, UTC', 'lowest', 'recovered', 'duration'),
    rows: drawdowns.map((_, i) => [
      i + 1, ...Object.keys(DRAWDOWN_COLUMNS).map((column) => figure(`drawdown ${i + 1}.${column}`)),
    ]),
  });
}

function rollingCharts({ rolling, warnings }: RunStatistics): Markup {
  const { times, window_days: days, bar_seconds: bar } = rolling;
  const why = warnings.find(({ figures }) => figures.includes('rolling'));
  if (times.length < 2) return markup`<p class="none">${why === undefined ? 'No window is full.' : factOf(why)}</p>`;
  const at = times.map((time) => Date.parse(time));
  const points = (values: readonly (number | null)[]): ChartPoint[] =>
    values.map((value, i) => [at[i]!, value === null ? null : Number(value.toPrecision(6))]);
  return chartFigure({
    ...PLAIN, title: `Sharpe ratio and volatility of ${days} days`, units: [{ kind: 'ratio' }, { kind: 'share' }],
    lines: [
      lineOf('Sharpe ratio', points(rolling.sharpe)),
      lineOf('volatility', points(rolling.volatility), { tone: 'second', pane: 1 }),
    ],
    empty: 'No window is full.',
  }, [`Both a year, over windows of ${days} days, from returns of ${shortDuration(bar * 1_000)}.`]);
}

const ORDER_LABELS: Readonly<Record<keyof typeof ORDER_ROWS, string>> = {
  shuffled_drawdown: 'max drawdown, same trades in another order',
  resampled_drawdown: 'max drawdown, trades drawn again',
  resampled_profit: 'profit, trades drawn again',
};

function orderTable({ run: { record: { currency } } }: ReportInput, { figure, statistics }: ReportFigures): Markup {
  const { trade_order: order, warnings } = statistics;
  if (order === null) {
    const why = warnings.find(({ figures }) => figures.includes('trade_order'));
    return markup`<p class="none">${why === undefined ? 'There are too few trades.' : factOf(why)}</p>`;
  }
  return markup`${dataTable({
    label: 'Other orders of the trades', isWide: true,
    columns: columnsOf('figure', 'best 5 %', '25 %', 'median', '75 %', 'worst 5 %'),
    rows: Object.entries(ORDER_LABELS).map(([row, label]) => {
      // The most profit is the best, the least drawdown is.
      const isProfit = row === 'resampled_profit';
      return [
        isProfit ? `${label}, ${currency}` : label,
        ...(isProfit ? PERCENTILES.toReversed() : PERCENTILES).map((name) => figure(`order.${row}.${name}`)),
      ];
    }),
  })}${note(markup`${figure('order.orders')} drawings of each kind. In its own order the trades had a max drawdown of ${
    figure('order.drawdown')}, seen between trades only. Of the drawings with as many trades drawn again, ${
    figure('order.losing')} end with a loss.`)}`;
}
