import type { Metrics } from '../research/metrics/metrics.ts';
import { SHOWN_METRICS, labelIn, scaledNote } from '../research/metrics/figure-text.ts';
import type { Cell, Markup } from './markup.ts';
import { columnsOf, dataTable, markup, nameText } from './markup.ts';
import { instantText } from './axis.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';
import type { SimulationSetting } from '../trading/simulated-landing.ts';
import type { HeatMap } from './heat-map.ts';
import { heatMapFigure } from './heat-map.ts';
import { valueText } from '../research/metrics/value-text.ts';

const SETTINGS: readonly SimulationSetting[] = ['optimistic', 'base', 'pessimistic'];
/** What changes with how kindly fills are simulated; all figures of the run stand in their own table. */
const OF_SETTINGS: readonly (keyof Metrics)[] = [
  'total_return', 'max_drawdown', 'sharpe', 'win_rate', 'profit_factor', 'expectancy', 'fees_paid',
  'realized_slippage_bps', 'landing_rate',
];

/** Few enough each that all fit on paper, one row for whoever is compared. */
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
/** So many stand beside one another on a phone. */
const MOST_BESIDE = 4;

/** Returns the three settings side by side, and what comes of other latencies and costs where that was asked for. */
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
  return markup`${dataTable({ label: 'The three settings', columns: columnsOf('figure', ...SETTINGS.map((setting) => (setting === configured ? `${setting} (as configured)` : setting))), rows })}
<p class="note">Optimistic: at once, as quoted, nothing fails. Base: as configured. Pessimistic: twice as slow, at the least that was accepted, three times the mishaps, twice the priority.</p>
${!isInOrder && markup`<p class="note">They do not come out in this order here: when swaps were filled decided more than how kindly. Read them as a range.</p>`}
${impactTable(ownImpact)}
${grid !== undefined && heatMapFigure({ ...grid, notes: [...grid.notes ?? [], ...sameNotes(grid)] })}`;
}

/** Returns for each feed what told how own swaps move its price, or that nothing did. */
function impactTable(ownImpact: ReportInput['ownImpact']): Markup {
  if (ownImpact.length === 0)
    return markup`<p class="note">Own swaps move no price here: no fill was at a market's price, or the setting leaves own impact out.</p>`;
  return markup`<h3>Own impact</h3>${dataTable({
    label: 'Own impact', columns: columnsOf('feed', 'fills by recorded sizes', 'by the stated impact', 'without own impact', 'made worse by earlier own swaps'),
    rows: ownImpact.map(({ name, fills: { sizes, stated, none }, displaced }) => [name, ...[sizes, stated, none, displaced].map((count) => valueText(count, 'count'))]),
  })}${ownImpact.some(({ fills }) => fills.none > 0) && markup`<p class="note">Without own impact: the recording holds one size there and states no price impact for it, so that own swaps leave the next price as it was recorded.</p>`}`;
}

/** Returns each strategy and each benchmark beside the whole. */
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
    return (shown.length > 0 || hasEquity) && markup`<h3>${title}</h3>${dataTable({
      label: title, columns: columnsOf('name', ...(hasEquity ? [atEnd] : []), ...shown.map((name) => labelOf(name, record.currency))),
      rows: rows.map(([of, name]) => [name, ...(hasEquity ? [figure(`${of}.equity_end`)] : []), ...shown.map((metric) => figure(`${of}.${metric}`))]),
    })}`;
  })}`;
}

/** Returns what a grid is silent about: that one of its sides makes no difference. */
function sameNotes({ down, across, values }: HeatMap): string[] {
  const columns = across.labels.map((_, column) => values.map((row) => row[column]!));
  return [
    ...(columns.every(isSame)
      ? [`Every ${down.name} comes to the same here: on these data it meets no other prices.`] : []),
    ...(values.every(isSame) ? [`All ${across.name} come to the same here.`] : []),
  ];
}

function isSame(values: HeatMap['values'][number]): boolean {
  return values.every((value) => typeof value === 'number' && value === values[0]);
}

/** An amount with its currency: the name of a figure alone does not say what it is counted in. */
function labelOf(name: keyof Metrics, currency: string): string {
  return labelIn(SHOWN_METRICS.find((metric) => metric.name === name)!, currency);
}

/** Returns the figures that most is asked for, each with what it takes to judge it. */
export function keyFigures(
  { run: { record: { currency }, assessment: { metrics, path } } }: ReportInput, figures: ReportFigures,
): Markup {
  const scaled = scaledNote(path);
  const { figure, isGiven, reason } = figures;
  const tile = (label: string, name: string, about: Markup, metric?: keyof Metrics, unit = ''): Markup => {
    const missing = isGiven(name) || metric === undefined ? undefined : reason(metric);
    return markup`<div><dt>${label}</dt><dd><b>${figure(name)}${isGiven(name) && unit !== '' && markup` <small>${unit}</small>`}</b>${missing === undefined ? about : markup`${missing}`}</dd></div>`;
  };
  const held = isGiven('versus_holding') ? markup`which came to ${figure('benchmark buy_and_hold.total_return')}`
    : markup`nothing could be held instead`;
  return markup`<dl class="tiles">${[
    tile('total return', 'total.total_return', markup`from ${figure('total.equity_start')} to ${figure('total.equity_end')} ${currency}`, 'total_return'),
    tile('against buying and holding', 'versus_holding', held, undefined, 'points'),
    tile('deepest drawdown', 'total.max_drawdown', drawdownText(metrics), 'max_drawdown'),
    tile('Sharpe ratio a year', 'total.sharpe', isGiven('total.sharpe_interval') ? figure('total.sharpe_interval') : markup`without an interval`, 'sharpe'),
    tile('round trips', 'trips.all', markup`${figure('total.wins')} won, ${figure('total.losses')} lost, ${figure('total.breakeven')} even; still open: ${figure('trips.open')}`),
    tile('a round trip brings', 'total.expectancy', isGiven('total.profit_factor') ? markup`on average; profit factor ${figure('total.profit_factor')}` : markup`on average`, 'expectancy', currency),
    tile('exposure', 'total.exposure', markup`on average; in the market ${figure('total.time_in_market')} of the time`, 'exposure'),
    tile('fees paid', 'total.fees_paid', isGiven('total.landing_rate') ? markup`${figure('total.landing_rate')} of the transactions landed` : markup`no transaction was sent`, 'fees_paid', currency),
  ]}</dl>
${scaled !== undefined && markup`<p class="note">${upperFirst(scaled)}.</p>`}<p class="note">What each figure is, and why one is missing: <a href="#all-figures">all figures</a>.</p>`;
}

/** Returns all figures, with what each is or why it is missing. */
export function figureTable(
  { run: { record: { currency } } }: ReportInput, { figure, isGiven, reason }: ReportFigures,
): Markup {
  return dataTable({
    label: 'All figures', isWide: true,
    columns: [
      { name: 'figure', isText: true }, { name: 'value' },
      { name: 'what it is, or why it is missing', isText: true, isLong: true },
    ],
    rows: SHOWN_METRICS.map(({ name, label, meaning, isMoney }) => [
      label,
      isGiven(`total.${name}`) && isMoney === true ? markup`${figure(`total.${name}`)} ${currency}`
        : figure(`total.${name}`),
      isGiven(`total.${name}`) ? meaning
        : markup`${meaning}<br><span class="soft">${reason(name) ?? 'the data do not lead to it'}</span>`,
    ]),
  });
}

function drawdownText({ drawdown_trough: trough, drawdown_recovered: recovered }: Metrics): Markup {
  if (trough === null) return markup`nothing was ever lost`;
  return markup`lowest ${momentText(trough)}, ${recovered === null ? 'not recovered' : `recovered ${momentText(recovered)}`}`;
}

function upperFirst(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** An instant to the minute; the number of a period, where there are no times, as it is. */
function momentText(at: string | number): string {
  return typeof at === 'number' ? String(at) : instantText(Date.parse(at), Infinity);
}
