import { roughDuration } from '../../core/time.ts';
import { histogram } from '../metrics/histogram.ts';
import { roundTrips } from '../metrics/round-trips.ts';
import { histogramChart } from '../page/bar-chart.ts';
import type { ChartLine } from '../page/line-chart.ts';
import { lineChart } from '../page/line-chart.ts';
import { spanMeans } from '../page/means.ts';
import { emptyFigure } from '../page/plot.ts';
import { columnsOf, dataTable, nameText } from '../page/table.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import { tradeFills } from '../record/run-figures.ts';
import type { InstrumentRecord, RunRecord } from '../record/run-record.ts';
import { fillPrice } from './fill-price.ts';
import { marketResults } from './market-results.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

/** All charts of prices together are drawn by so many parts, so that many markets do not make a large file. */
const PARTS_OF_MARKETS = 3_000;
const MOST_PARTS = 300;
const FEWEST_PARTS = 60;
const DRAWDOWN = 'Drawdown: how far below the last peak';
const EXPOSURE = 'Share of equity held in tokens';
const STEPS_OF_EXPOSURE = 150;
const SWAPS_CLOSE_UP = 40;
const MOST_CLOSE_UPS = 4;

/** Returns the charts of equity and drawdown. */
export function equityCharts({ run: { series, record }, benchmarks: { buy_and_hold: holding, dca }, silences }: ReportInput): Markup {
  const beside = ([[holding, 'buy and hold', 'second'], [dca, 'bought step by step', 'third']] as const)
    .flatMap(([benchmark, label, style]): ChartLine[] => (benchmark === undefined ? [] : [{ label, style, values: atTimes(record, series.times, benchmark.series.values) }]));
  let peak = -Infinity;
  const falls = series.values.map((value) => {
    peak = Math.max(peak, value);
    return peak > 0 ? value / peak - 1 : 0;
  });
  const common = { times: record.times, gaps: silences?.all, empty: 'What was held could not be valued.' };
  return markup`${lineChart({
    ...common, title: `Equity, ${record.currency}`, kind: 'amount',
    notes: ['After costs; what is held is valued at what its sale would bring.'],
    lines: [...beside, { label: record.strategies.length === 1 ? 'strategy' : 'strategies', style: 'main', values: atTimes(record, series.times, series.values) }],
  })}
${falls.length > 1 && falls.every((fall) => fall === 0) ? emptyFigure(DRAWDOWN, 'Equity was never below its peak.') : lineChart({
    ...common, title: DRAWDOWN, kind: 'share', include: [0],
    lines: [{ label: 'drawdown', style: 'loss', form: 'area', values: atTimes(record, series.times, falls) }],
  })}`;
}

/** Returns the chart of what was held. */
export function exposureChart({ run: { series, record }, silences }: ReportInput): Markup {
  const shares = atTimes(record, series.times, series.held.map((value, i) => (series.values[i]! > 0 ? value / series.values[i]! : 0)));
  if (series.held.length > 1 && series.held.every((value) => value === 0)) return emptyFigure(EXPOSURE, 'Nothing was ever held.');
  const common = { title: EXPOSURE, gaps: silences?.all, kind: 'share', include: [0], empty: 'What was held could not be valued.' } as const;
  if (shares.length <= STEPS_OF_EXPOSURE) return lineChart({ ...common, times: record.times, lines: [{ label: 'exposure', style: 'main', form: 'area', values: shares }] });
  // Where tokens are held for minutes over weeks, a line through all of it would be one block from nothing to the most.
  const { times, means, highest } = spanMeans(shares, { times: record.times, parts: STEPS_OF_EXPOSURE });
  return lineChart({
    ...common, times,
    notes: [`Each step holds ${roughDuration(times[1]! - times[0]!)}: the mean, and the highest in it.`],
    lines: [{ label: 'highest', style: 'third', form: 'steps', values: highest }, { label: 'on average', style: 'main', form: 'area', values: means }],
  });
}

/** Returns a chart of each market's price with the swaps in it. */
export function marketCharts({ run: { record }, silences }: ReportInput): Markup {
  const { instruments, currency, times } = record;
  if (instruments.length === 0) return markup`<p class="none">No market was watched that could be bought.</p>`;
  const parts = Math.max(FEWEST_PARTS, Math.min(MOST_PARTS, Math.floor(PARTS_OF_MARKETS / instruments.length)));
  return markup`${instruments.map((instrument) => {
    const swaps = swapLines(record, instrument);
    const lines: readonly ChartLine[] = [{ label: 'price', style: 'main', values: times.map((_, i) => middle(instrument, i)) }, ...swaps];
    const common = { gaps: silences?.bySymbol.get(instrument.symbol), kind: 'price', parts } as const;
    const near = instruments.length <= MOST_CLOSE_UPS ? closeUp(times, swaps) : undefined;
    return markup`${lineChart({
      ...common, title: `${instrument.symbol}, ${currency} each`, times, lines, empty: 'It never had a price in this recording.',
      notes: ['The price is the middle between what a purchase takes and what a sale brings.'],
    })}
${near !== undefined && lineChart({
      ...common, title: `${instrument.symbol}, ${currency} each: the last ${SWAPS_CLOSE_UP} swaps`, times: times.slice(near.from, near.until),
      lines: lines.map((line) => ({ ...line, values: line.values.slice(near.from, near.until) })),
    })}
`;
  })}`;
}

/** Returns the distribution of what round trips came to. */
export function tradeResultChart({ run: { record } }: ReportInput, { figure }: ReportFigures): Markup {
  const paired = roundTrips(tradeFills(record));
  const { trips } = paired;
  const markets = marketResults(paired);
  return markup`${histogramChart({
    title: `Round trips by what they came to, ${record.currency}`, bins: histogram(trips.map(({ profit }) => profit)), kind: 'price', counted: 'round trips', empty: 'No round trip was completed.',
  })}
${trips.length > 0 && markup`<p class="soft">${figure('trips.all')} round trips, first in, first out, after costs: ${figure('total.wins')} won, ${figure('total.losses')} lost, ${figure('total.breakeven')} even; best ${figure('trips.best')}, worst ${figure('trips.worst')} ${record.currency}.</p>`}
${markets.length > 1 && markup`<h3>Where it came from</h3>${dataTable({
    label: 'Round trips by token and strategy', columns: columnsOf('token and strategy', 'round trips', 'won', `came to, ${record.currency}`, 'still held'),
    rows: markets.map(({ name }, i) => [nameText(name), ...(['trips', 'won', 'profit', 'open'] as const).map((of) => figure(`market ${i + 1}.${of}`))]),
  })}`}`;
}

/** What has no value at a time is left out of a series: it leaves a gap. */
function atTimes({ times }: RunRecord, known: readonly number[], values: readonly number[]): (number | null)[] {
  let next = 0;
  return times.map((at) => (known[next] === at ? values[next++]! : null));
}

function middle({ bids, asks }: InstrumentRecord, i: number): number | null {
  const [bid, ask] = [bids[i], asks[i]];
  return bid === null || bid === undefined || ask === null || ask === undefined ? null : Math.sqrt(bid * ask);
}

/** Returns which of the times hold the last swaps, where there are too many to tell them apart. */
function closeUp(times: readonly number[], swaps: readonly ChartLine[]): { readonly from: number; readonly until: number } | undefined {
  const places = times.flatMap((_, i) => (swaps.some(({ values }) => values[i] !== null) ? [i] : []));
  if (places.length <= 2 * SWAPS_CLOSE_UP) return undefined;
  return { from: Math.max(0, places.at(-SWAPS_CLOSE_UP)! - 1), until: places.at(-1)! + 2 };
}

/** Equity is looked at after each fill, so each has a time of its own among those of the record. */
function swapLines({ times, fills }: RunRecord, instrument: InstrumentRecord): ChartLine[] {
  const prices = { entry: new Map<number, number>(), exit: new Map<number, number>() };
  for (const fill of fills) {
    const price = fillPrice(fill, instrument);
    if (price !== undefined) prices[fill.output === instrument.symbol ? 'entry' : 'exit'].set(fill.at, price);
  }
  return (['entry', 'exit'] as const).filter((kind) => prices[kind].size > 0)
    .map((kind) => ({ label: kind, style: kind, form: 'spots', values: times.map((at) => prices[kind].get(at) ?? null) }));
}
