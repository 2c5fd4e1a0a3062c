import type { Metrics } from '../metrics/metrics.ts';
import { scaledNote, SHOWN_METRICS } from '../metrics/shown-metrics.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import { dataTable } from '../page/table.ts';
import { instantText } from '../page/time-axis.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

/** Returns the figures that most is asked for, each with what it takes to judge it. */
export function keyFigures({ run: { record: { currency }, assessment: { metrics, path } } }: ReportInput, figures: ReportFigures): Markup {
  const scaled = scaledNote(path);
  const { figure, isGiven, reason } = figures;
  const tile = (label: string, name: string, about: Markup, metric?: keyof Metrics, unit = ''): Markup => {
    const missing = isGiven(name) || metric === undefined ? undefined : reason(metric);
    return markup`<div><dt>${label}</dt><dd><b>${figure(name)}${isGiven(name) && unit !== '' && markup` <small>${unit}</small>`}</b>${missing === undefined ? about : markup`${missing}`}</dd></div>`;
  };
  const held = isGiven('versus_holding') ? markup`which came to ${figure('benchmark buy_and_hold.total_return')}` : markup`nothing could be held instead`;
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
export function figureTable({ run: { record: { currency } } }: ReportInput, { figure, isGiven, reason }: ReportFigures): Markup {
  return dataTable({
    label: 'All figures', isWide: true,
    columns: [{ name: 'figure', isText: true }, { name: 'value' }, { name: 'what it is, or why it is missing', isText: true, isLong: true }],
    rows: SHOWN_METRICS.map(({ name, label, meaning, isMoney }) => [
      label, isGiven(`total.${name}`) && isMoney === true ? markup`${figure(`total.${name}`)} ${currency}` : figure(`total.${name}`), isGiven(`total.${name}`) ? meaning : markup`${meaning}<br><span class="soft">${reason(name) ?? 'the data do not lead to it'}</span>`,
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
