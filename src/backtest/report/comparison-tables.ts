import type { SimulationSetting } from '../../trading/simulated-landing.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { SHOWN_METRICS } from '../metrics/shown-metrics.ts';
import { heatMapFigure } from '../page/heat-map.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import type { Cell } from '../page/table.ts';
import { columnsOf, dataTable, nameText } from '../page/table.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

const SETTINGS: readonly SimulationSetting[] = ['optimistic', 'base', 'pessimistic'];

/** Few enough each that all fit on paper, one row for whoever is compared. */
const GROUPS: readonly { readonly title: string; readonly metrics: readonly (keyof Metrics)[] }[] = [
  { title: 'Return and risk', metrics: ['total_return', 'cagr', 'volatility', 'sharpe', 'sortino', 'calmar', 'max_drawdown', 'ulcer_index'] },
  { title: 'Trades', metrics: ['win_rate', 'profit_factor', 'expectancy', 'payoff_ratio', 'exposure', 'turnover', 'fees_paid', 'realized_slippage_bps', 'landing_rate'] },
  { title: 'Confidence', metrics: ['skewness', 'kurtosis', 'psr', 'min_track_record_length', 'dsr'] },
];

/** Returns the three settings side by side, and what comes of other latencies and costs where that was asked for. */
export function sensitivityTables({ settings, grid, run: { record: { currency } } }: ReportInput, { configured, figure, isGiven }: ReportFigures): Markup {
  const of = (setting: SimulationSetting): string => (setting === configured ? 'total' : `setting ${setting}`);
  const rows: readonly (readonly Cell[])[] = [
    [`equity at the end, ${currency}`, ...SETTINGS.map((setting) => figure(`${of(setting)}.equity_end`))],
    ['swaps that landed', ...SETTINGS.map((setting) => settings[setting].result.fills.length)],
    ['swaps that failed', ...SETTINGS.map((setting) => settings[setting].result.intents['failed'] ?? 0)],
    ...SHOWN_METRICS.filter(({ name }) => SETTINGS.some((setting) => isGiven(`${of(setting)}.${name}`)))
      .map(({ name, label }) => [label, ...SETTINGS.map((setting) => figure(`${of(setting)}.${name}`))]),
  ];
  return markup`${dataTable({ label: 'The three settings', columns: columnsOf('figure', ...SETTINGS.map((setting) => (setting === configured ? `${setting} (as configured)` : setting))), rows })}
<p class="note">Optimistic: at once, as quoted, nothing fails. Base: as configured. Pessimistic: twice as slow, at the least that was accepted, three times the mishaps, twice the priority.</p>
${grid !== undefined && heatMapFigure(grid)}`;
}

/** Returns each strategy and each benchmark beside the whole. */
export function comparisonTables({ run: { record } }: ReportInput, { assessments, figure, isGiven }: ReportFigures): Markup {
  const names = new Map<string, Cell>([
    ['total', record.strategies.length === 1 ? nameText(record.strategies[0]!.name) : 'all strategies'],
    ...record.strategies.map(({ name }, i): [string, Cell] => [`strategy ${i + 1}`, nameText(name)]),
    ['benchmark buy_and_hold', 'buy and hold'], ['benchmark dca', 'bought step by step'], ['benchmark cash', 'cash'],
  ]);
  const compared = [...names].filter(([of]) => assessments.has(of));
  return markup`${GROUPS.map(({ title, metrics }) => {
    const shown = metrics.filter((name) => compared.some(([of]) => isGiven(`${of}.${name}`)));
    const rows = compared.filter(([of]) => of === 'total' || metrics.some((name) => isGiven(`${of}.${name}`)));
    const hasEquity = title === GROUPS[0]!.title;
    return (shown.length > 0 || hasEquity) && markup`<h3>${title}</h3>${dataTable({
      label: title, columns: columnsOf('name', ...(hasEquity ? [`equity at the end, ${record.currency}`] : []), ...shown.map((name) => SHOWN_METRICS.find((metric) => metric.name === name)!.label)),
      rows: rows.map(([of, name]) => [name, ...(hasEquity ? [figure(`${of}.equity_end`)] : []), ...shown.map((metric) => figure(`${of}.${metric}`))]),
    })}`;
  })}`;
}
