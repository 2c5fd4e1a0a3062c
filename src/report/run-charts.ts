import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { histogram } from '../research/metrics/return-distribution.ts';
import { roundTrips } from '../research/metrics/round-trips.ts';
import { histogramChart } from './charts/bar-chart.ts';
import type { ChartLine } from './charts/line-chart.ts';
import { lineChart } from './charts/line-chart.ts';
import { emptyFigure } from './charts/plot.ts';
import type { Markup } from '../web/markup.ts';
import { columnsOf, dataTable, markup, nameText } from '../web/markup.ts';
import { tradeFills } from '../research/metrics/run-figures.ts';
import { marketResults } from './printed-figures.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';
import { spanMeans } from './charts/downsample.ts';

const DRAWDOWN = 'Drawdown below the last peak';
const EXPOSURE = 'Share of equity held in tokens';
/** The text of a chart without values. */
export const NOT_VALUED = 'The holdings could not be valued.';
const STEPS_OF_EXPOSURE = 150;

/** Returns the charts of equity and drawdown. */
export function equityCharts(
  { run: { series, record }, benchmarks: { buy_and_hold: holding, dca }, silences }: ReportInput,
): Markup {
  const changes = (values: readonly number[]): (number | null)[] =>
    atTimes(record.times, series.times, values.map((value) => (values[0]! > 0 ? value / values[0]! - 1 : 0)));
  const beside = ([[holding, 'buy and hold', 'second'], [dca, 'DCA', 'third']] as const)
    .flatMap(([benchmark, label, style]): ChartLine[] =>
      (benchmark === undefined ? [] : [{ label, style, values: changes(benchmark.series.values) }]));
  const own = record.strategies.length === 1 ? 'strategy' : 'strategies';
  const falls = drawdownValues(series.values);
  const common = { times: record.times, gaps: silences?.all, empty: NOT_VALUED };
  return markup`${lineChart({
    ...common, title: `Equity, ${record.currency}`, kind: 'amount',
    notes: ['After costs; holdings are valued at the proceeds of their sale.'],
    lines: [{ label: own, style: 'main', values: atTimes(record.times, series.times, series.values) }],
  })}
${falls.length > 1 && falls.every((fall) => fall === 0) ? emptyFigure(DRAWDOWN, 'The equity was never below its peak.')
  : drawdownChart(common, atTimes(record.times, series.times, falls))}
${beside.length > 0 && lineChart({
    ...common, title: 'Change since the beginning, compared with buying and holding', kind: 'share', include: [0],
    notes: dca === undefined ? [] : ['DCA buys in equal parts at equal intervals, with the same money.'],
    lines: [...beside, { label: own, style: 'main', values: changes(series.values) }],
  })}`;
}

/** Returns the chart of the share of equity in tokens. */
export function exposureChart({ run: { series, record }, silences }: ReportInput): Markup {
  const shares = atTimes(record.times, series.times, series.held.map((value, i) =>
    (series.values[i]! > 0 ? value / series.values[i]! : 0)));
  if (series.held.length > 1 && series.held.every((value) => value === 0))
    return emptyFigure(EXPOSURE, 'No token was ever held.');
  const common = {
    title: EXPOSURE, gaps: silences?.all, kind: 'share', include: [0], empty: NOT_VALUED,
  } as const;
  if (shares.length <= STEPS_OF_EXPOSURE) return lineChart({
    ...common, times: record.times, lines: [{ label: 'exposure', style: 'main', form: 'area', values: shares }],
  });
  // Where tokens are held for minutes within weeks, one line through all samples would be a solid block.
  const { times, means, highest } = spanMeans(shares, { times: record.times, parts: STEPS_OF_EXPOSURE });
  return lineChart({
    ...common, times,
    notes: [`Each step holds ${roughDuration(times[1]! - times[0]!)}: the mean, and the highest in it.`],
    lines: [
      { label: 'highest', style: 'third', form: 'steps', values: highest },
      { label: 'on average', style: 'main', form: 'area', values: means },
    ],
  });
}

/** Returns the distribution of the results of round trips. */
export function tradeResultChart({ run: { record } }: ReportInput, { figure }: ReportFigures): Markup {
  const paired = roundTrips(tradeFills(record));
  const { trips } = paired;
  const markets = marketResults(paired);
  return markup`${histogramChart({
    title: `Round trips by result, ${record.currency}`, bins: histogram(trips.map(({ profit }) => profit)),
    kind: 'price', counted: 'round trips', empty: 'No round trip was completed.',
  })}
${trips.length > 0 && markup`<p class="soft">${figure('trips.all')} round trips, first in, first out, after costs: ${
  figure('total.wins')} won, ${figure('total.losses')} lost, ${figure('total.breakeven')} even; best ${
  figure('trips.best')}, worst ${figure('trips.worst')} ${record.currency}.</p>`}
${markets.length > 1 && markup`<h3>By token and strategy</h3>${dataTable({
    label: 'Round trips by token and strategy',
    columns: columnsOf('token and strategy', 'round trips', 'won', `result, ${record.currency}`, 'still held'),
    rows: markets.map(({ name }, i) => (
      [nameText(name), ...(['trips', 'won', 'profit', 'open'] as const).map((of) => figure(`market ${i + 1}.${of}`))])),
  })}`}`;
}

/** Returns the fall of each value below the highest one so far, 0 to -1. */
export function drawdownValues(values: readonly number[]): number[] {
  let peak = -Infinity;
  return values.map((value) => {
    peak = Math.max(peak, value);
    return peak > 0 ? value / peak - 1 : 0;
  });
}

/** Returns the chart of a drawdown. */
export function drawdownChart(
  common: Pick<Parameters<typeof lineChart>[0], 'times' | 'gaps' | 'empty'>, values: readonly (number | null)[],
): Markup {
  return lineChart({
    ...common, title: DRAWDOWN, kind: 'share', include: [0],
    lines: [{ label: 'drawdown', style: 'loss', form: 'area', values }],
  });
}

/** Returns values at `times`; a time without a value is a gap. */
export function atTimes(
  times: readonly Millis[], known: readonly Millis[], values: readonly number[],
): (number | null)[] {
  let next = 0;
  return times.map((at) => (known[next] === at ? values[next++]! : null));
}
