import type { Metrics } from '../research/metrics/metrics.ts';
import { SHOWN_METRICS, labelIn, scaledNote } from '../research/metrics/figure-text.ts';
import type { Cell, Markup } from '../web/markup.ts';
import { columnsOf, dataTable, markup, nameText, note } from '../web/markup.ts';
import { instantText } from './printed-figures.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';
import type { SimulationSetting } from '../trading/simulation-model.ts';
import type { HeatMap } from './charts/heat-map.ts';
import { heatMapFigure } from './charts/heat-map.ts';
import { valueText } from '../research/metrics/value-text.ts';
import type { SensitivityGrid } from '../research/trials/sensitivity-grid.ts';

/** Returns the most important figures; each opens to what it means, or why it is missing. */
export function keyFigures(
  { run: { record: { currency }, assessment: { metrics, path } } }: ReportInput, figures: ReportFigures,
): Markup {
  const scaled = scaledNote(path);
  const { figure, isGiven, reason } = figures;
  const tile = ({ label, name, sub, metric, meaning, sign, unit }: Tile): Markup => {
    const isThere = isGiven(name);
    const missing = isThere || metric === undefined ? undefined : reason(metric);
    const tone = !isThere || sign === undefined || sign === 0 ? '' : sign > 0 ? ' gain' : ' loss';
    const about = missing ?? meaning ?? SHOWN_METRICS.find((each) => each.name === metric)?.meaning;
    return markup`<details class="tile" name="key-figure"><summary><span class="label">${label}</span><span ${
      markup`class="value${tone}"`}>${tone !== '' && ARROWS[tone === ' gain' ? 'up' : 'down']}${figure(name)}${
      isThere && unit !== undefined && markup` <span class="unit">${unit}</span>`}</span>
<span class="sub">${sub}</span></summary><p>${about}.</p></details>`;
  };
  const [won, lost] = [figure('total.wins'), figure('total.losses')];
  return markup`<div class="tiles">${[
    tile({
      label: 'Total return', name: 'result.return', metric: 'total_return', sign: metrics.total_return ?? 0,
      sub: markup`${figure('total.equity_start')} to ${figure('total.equity_end')} ${currency}`,
    }),
    tile({
      label: 'Against holding', name: 'versus_holding', unit: 'points', sign: versusOf(figures),
      sub: isGiven('versus_holding') ? markup`holding ${figure('benchmark buy_and_hold.total_return')}`
        : markup`no benchmark could buy`,
      meaning: 'the total return minus that of buying and holding the same tokens, in percentage points',
    }),
    tile({
      label: 'Max drawdown', name: 'total.max_drawdown', metric: 'max_drawdown', sub: drawdownText(metrics),
    }),
    tile({
      label: 'Sharpe ratio', name: 'total.sharpe', metric: 'sharpe',
      sub: isGiven('total.sharpe_interval') ? figure('total.sharpe_interval') : markup`a year`,
    }),
    tile({
      label: 'Win rate', name: 'total.win_rate', metric: 'win_rate',
      sub: markup`${figure('trips.all')} trades: ${won} won, ${lost} lost`,
    }),
    tile({
      label: 'Profit factor', name: 'total.profit_factor', metric: 'profit_factor',
      sub: isGiven('total.expectancy') ? markup`${figure('total.expectancy')} ${currency} a trade`
        : markup`gains / losses`,
    }),
  ]}</div>
${scaled !== undefined && note(`${upperFirst(scaled)}.`)}`;
}

/** A key figure. */
interface Tile {
  readonly label: string;
  readonly name: string;
  readonly sub: Markup;
  readonly metric?: keyof Metrics | undefined;
  /** Left out, it is that of the metric. */
  readonly meaning?: string | undefined;
  /** Above 0 the figure is a gain, below 0 a loss. */
  readonly sign?: number | undefined;
  readonly unit?: string | undefined;
}

const ARROWS = {
  up: markup`<span class="arrow up" aria-hidden="true"></span>`,
  down: markup`<span class="arrow" aria-hidden="true"></span>`,
};

/** Returns the difference to buying and holding; 0 where it is not known. */
function versusOf({ assessments }: ReportFigures): number {
  const held = assessments.get('benchmark buy_and_hold')?.metrics.total_return ?? null;
  const own = assessments.get('total')?.metrics.total_return ?? null;
  return own === null || held === null ? 0 : own - held;
}

/** Returns all figures, each with its meaning, or why it is missing. */
export function figureTable(
  { run: { record: { currency } } }: ReportInput, { figure, isGiven, reason }: ReportFigures,
): Markup {
  return dataTable({
    label: 'Each figure and its meaning', isWide: true,
    columns: [
      { name: 'figure', isText: true }, { name: 'value' },
      { name: 'meaning, or why it is missing', isText: true, isLong: true },
    ],
    rows: SHOWN_METRICS.map(({ name, label, meaning, isMoney }) => [
      label,
      isGiven(`total.${name}`) && isMoney === true ? markup`${figure(`total.${name}`)} ${currency}`
        : figure(`total.${name}`),
      isGiven(`total.${name}`) ? meaning
        : markup`${meaning}<br><span class="soft">${reason(name) ?? 'the data do not determine it'}</span>`,
    ]),
  });
}

function drawdownText({ drawdown_trough: trough, drawdown_recovered: recovered }: Metrics): Markup {
  if (trough === null) return markup`the equity never fell`;
  const end = recovered === null ? 'not recovered' : `recovered ${momentText(recovered)}`;
  return markup`lowest ${momentText(trough)}, ${end}`;
}

function upperFirst(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Returns an instant to the minute, or the number of a period where there are no times. */
function momentText(at: string | number): string {
  return typeof at === 'number' ? String(at) : instantText(Date.parse(at), Infinity);
}

const SETTINGS: readonly SimulationSetting[] = ['optimistic', 'base', 'pessimistic'];
/** The metrics that depend on the setting. All metrics are in a table of their own. */
const OF_SETTINGS: readonly (keyof Metrics)[] = [
  'total_return', 'max_drawdown', 'sharpe', 'win_rate', 'profit_factor', 'expectancy', 'fees_paid',
  'realized_slippage_bps', 'landing_rate',
];

const SETTINGS_NOTE = 'Optimistic: without latency on the way to the block, at the quoted price, without failures. '
  + 'Base: as configured. Pessimistic: twice the latency, the accepted minimum as price, three times the failures, '
  + 'twice the priority fee.';
const ORDER_NOTE = 'The results are not in this order here: the times of the fills mattered more than their prices. '
  + 'Read them as a range.';
const IMPACT_NOTE = 'Without own impact: the recording holds one size there and states no price impact for it, so own '
  + 'swaps do not move the next price.';

/** Groups that fit on paper, with one row per strategy or benchmark. */
const GROUPS: readonly { readonly title: string; readonly metrics: readonly (keyof Metrics)[] }[] = [
  {
    title: 'Return and risk',
    metrics: ['total_return', 'cagr', 'volatility', 'sharpe', 'sortino', 'calmar', 'max_drawdown', 'ulcer_index'],
  },
  { title: 'Trades', metrics: [
    'win_rate', 'profit_factor', 'expectancy', 'payoff_ratio', 'exposure', 'turnover', 'fees_paid',
    'realized_slippage_bps', 'landing_rate',
  ] },
  { title: 'Confidence', metrics: ['skewness', 'kurtosis', 'psr', 'min_track_record_length', 'dsr'] },
];
/** The most columns that fit on a phone. */
const MOST_BESIDE = 4;

/** Returns the three settings side by side, and the result under other latencies and costs where it was computed. */
export function sensitivityTables({ settings, grid, ownImpact, run: { record: { currency } } }: ReportInput, {
  configured, figure, isGiven,
}: ReportFigures): Markup {
  const of = (setting: SimulationSetting): string => (setting === configured ? 'total' : `setting ${setting}`);
  const rows: readonly (readonly Cell[])[] = [
    [`equity at the end, ${currency}`, ...SETTINGS.map((setting) => figure(`${of(setting)}.equity_end`))],
    ['swaps that landed', ...SETTINGS.map((setting) => valueText(settings[setting].result.fills.length, 'count'))],
    ['swaps that failed', ...SETTINGS.map((setting) =>
      valueText(settings[setting].result.intents['failed'] ?? 0, 'count'))],
    ...OF_SETTINGS.filter((name) => SETTINGS.some((setting) => isGiven(`${of(setting)}.${name}`)))
      .map((name) => [labelOf(name, currency), ...SETTINGS.map((setting) => figure(`${of(setting)}.${name}`))]),
  ];
  const returns = SETTINGS.map((setting) => settings[setting].assessment.metrics.total_return ?? 0);
  const isInOrder = returns.every((value, i) => i === 0 || value <= returns[i - 1]!);
  const names = SETTINGS.map((setting) => (setting === configured ? `${setting} (as configured)` : setting));
  return markup`${dataTable({ label: 'The three settings', columns: columnsOf('figure', ...names), rows })}
${note(SETTINGS_NOTE)}
${!isInOrder && note(ORDER_NOTE)}
${impactTable(ownImpact)}
${grid !== undefined && heatMapFigure({ ...grid, notes: [...grid.notes ?? [], ...sameNotes(grid)] })}`;
}

/** Returns the source of own impact for each feed, or that there was none. */
function impactTable(ownImpact: ReportInput['ownImpact']): Markup {
  if (ownImpact.length === 0)
    return note('Own swaps move no price here: no fill was at a market price, or the setting leaves own impact out.');
  return markup`<h3>Own impact</h3>${dataTable({
    label: 'Own impact',
    columns: columnsOf(
      'feed', 'fills by recorded sizes', 'by the stated impact', 'without own impact',
      'made worse by earlier own swaps',
    ),
    rows: ownImpact.map(({ name, fills: { sizes, stated, none }, displaced }) => (
      [name, ...[sizes, stated, none, displaced].map((count) => valueText(count, 'count'))])),
  })}${ownImpact.some(({ fills }) => fills.none > 0) && note(IMPACT_NOTE)}`;
}

/** Returns each strategy and each benchmark beside the total. */
export function comparisonTables(
  { run: { record } }: ReportInput, { assessments, figure, isGiven }: ReportFigures,
): Markup {
  const names = new Map<string, string | Markup>([
    ['total', record.strategies.length === 1 ? nameText(record.strategies[0]!.name) : 'all strategies'],
    ...record.strategies.map(({ name }, i): [string, Markup] => [`strategy ${i + 1}`, nameText(name)]),
    ['benchmark buy_and_hold', 'buy and hold'], ['benchmark dca', 'DCA'], ['benchmark cash', 'cash'],
  ]);
  const compared = [...names].filter(([of]) => assessments.has(of));
  const atEnd = `equity at the end, ${record.currency}`;
  if (compared.length <= MOST_BESIDE) {
    const shown = GROUPS.flatMap(({ metrics }) => metrics).filter((name) =>
      compared.some(([of]) => isGiven(`${of}.${name}`))
        && compared.some(([of]) => of !== 'total' && isGiven(`${of}.${name}`)));
    return dataTable({
      label: 'Strategies and benchmarks',
      columns: [{ name: 'figure', isText: true }, ...compared.map(([, name]) => ({ name }))],
      rows: [[atEnd, ...compared.map(([of]) => figure(`${of}.equity_end`))], ...shown.map((metric) =>
        [labelOf(metric, record.currency), ...compared.map(([of]) => figure(`${of}.${metric}`))])],
    });
  }
  return markup`${GROUPS.map(({ title, metrics }) => {
    const shown = metrics.filter((name) => compared.some(([of]) => isGiven(`${of}.${name}`)));
    const rows = compared.filter(([of]) => of === 'total' || metrics.some((name) => isGiven(`${of}.${name}`)));
    const hasEquity = title === GROUPS[0]!.title;
    const equity = <T>(cell: T): T[] => (hasEquity ? [cell] : []);
    return (shown.length > 0 || hasEquity) && markup`<h3>${title}</h3>${dataTable({
      label: `Comparison: ${title.toLowerCase()}`,
      columns: columnsOf('name', ...equity(atEnd), ...shown.map((name) => labelOf(name, record.currency))),
      rows: rows.map(([of, name]) => (
        [name, ...equity(figure(`${of}.equity_end`)), ...shown.map((metric) => figure(`${of}.${metric}`))])),
    })}`;
  })}`;
}

/** Returns a note for each side of a grid that makes no difference. */
function sameNotes({ down, across, values }: HeatMap): string[] {
  const columns = across.labels.map((_, column) => values.map((row) => row[column]!));
  return [
    ...(columns.every(isSame)
      ? [`Every ${down.name} has the same result here: on these data it leads to the same prices.`] : []),
    ...(values.every(isSame) ? [`All ${across.name} have the same result here.`] : []),
  ];
}

function isSame(values: HeatMap['values'][number]): boolean {
  return values.every((value) => typeof value === 'number' && value === values[0]);
}

/** Returns the label of a metric, an amount with its currency. */
function labelOf(name: keyof Metrics, currency: string): string {
  return labelIn(SHOWN_METRICS.find((metric) => metric.name === name)!, currency);
}

/** Returns a sensitivity grid as a heat map. */
export function gridHeatMap({ latency, cost, totalReturn, halfSpreadBps: spread }: SensitivityGrid): HeatMap {
  return {
    title: 'Total return by latency and cost', measured: 'total return', kind: 'share',
    down: { name: 'latency', labels: latency.map(factorText) },
    across: { name: 'costs', labels: cost.map(factorText) },
    values: totalReturn.map((row) => row.map((value) => (typeof value === 'number' ? value : { missing: value }))),
    configured: { row: latency.indexOf(1), column: cost.indexOf(1) },
    notes: [costNote(spread)],
  };
}

/** Returns an explanation of the cost factors. */
function costNote(spreadBps: number): string {
  return `Costs are network fees, tips, the platform's fee and the shortfall of fills, and half of the recorded `
    + `spread, ${spreadBps.toFixed(2)} bps a swap: doubled costs charge each swap that much more, halved costs half `
    + 'of it less.';
}

function factorText(factor: number): string {
  return `× ${factor}`;
}
