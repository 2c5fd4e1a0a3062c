import { histogram } from '../metrics/histogram.ts';
import { roundTrips } from '../metrics/round-trips.ts';
import { histogramChart } from '../page/bar-chart.ts';
import type { ChartLine } from '../page/line-chart.ts';
import { lineChart } from '../page/line-chart.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import { tradeFills } from '../record/run-figures.ts';
import type { InstrumentRecord, RecordedFill, RunRecord } from '../record/run-record.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

/** All charts of prices together are drawn by so many parts, so that many markets do not make a large file. */
const PARTS_OF_MARKETS = 3_000;
const MOST_PARTS = 300;
const FEWEST_PARTS = 60;

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
${lineChart({
    ...common, title: 'Drawdown: how far below the last peak', kind: 'share', include: [0],
    lines: [{ label: 'drawdown', style: 'loss', form: 'area', values: atTimes(record, series.times, falls) }],
  })}`;
}

/** Returns the chart of what was held. */
export function exposureChart({ run: { series, record }, silences }: ReportInput): Markup {
  const shares = series.held.map((value, i) => (series.values[i]! > 0 ? value / series.values[i]! : 0));
  return lineChart({
    title: 'Share of equity held in tokens', times: record.times, gaps: silences?.all, kind: 'share', include: [0], empty: 'What was held could not be valued.',
    lines: [{ label: 'exposure', style: 'main', form: 'area', values: atTimes(record, series.times, shares) }],
  });
}

/** Returns a chart of each market's price with the swaps in it. */
export function marketCharts({ run: { record }, silences }: ReportInput): Markup {
  const { instruments, currency, times } = record;
  if (instruments.length === 0) return markup`<p class="none">No market was watched that could be bought.</p>`;
  const parts = Math.max(FEWEST_PARTS, Math.min(MOST_PARTS, Math.floor(PARTS_OF_MARKETS / instruments.length)));
  return markup`${instruments.map((instrument) => lineChart({
    title: `${instrument.symbol}, ${currency} each`, times, gaps: silences?.bySymbol.get(instrument.symbol), kind: 'amount', parts,
    empty: 'It never had a price in this recording.',
    notes: ['The price is the middle between what a purchase takes and what a sale brings.'],
    lines: [
      { label: 'price', style: 'main', values: times.map((_, i) => middle(instrument, i)) },
      ...swapLines(record, instrument),
    ],
  })).map((chart) => markup`${chart}
`)}`;
}

/** Returns the distribution of what round trips came to. */
export function tradeResultChart({ run: { record } }: ReportInput, { figure }: ReportFigures): Markup {
  const { trips } = roundTrips(tradeFills(record));
  return markup`${histogramChart({
    title: `Round trips by what they came to, ${record.currency}`, bins: histogram(trips.map(({ profit }) => profit)), kind: 'amount', counted: 'round trips', empty: 'No round trip was completed.',
  })}
${trips.length > 0 && markup`<p class="soft">${figure('trips.all')} round trips, first in, first out, after costs: ${figure('total.wins')} won, ${figure('total.losses')} lost, ${figure('total.breakeven')} even; best ${figure('trips.best')}, worst ${figure('trips.worst')} ${record.currency}.</p>`}`;
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

/** Equity is looked at after each fill, so each has a time of its own among those of the record. */
function swapLines({ times, fills }: RunRecord, instrument: InstrumentRecord): ChartLine[] {
  const prices = { entry: new Map<number, number>(), exit: new Map<number, number>() };
  for (const fill of fills) {
    const price = priceOf(fill, instrument);
    if (price !== undefined) prices[fill.output === instrument.symbol ? 'entry' : 'exit'].set(fill.at, price);
  }
  return (['entry', 'exit'] as const).filter((kind) => prices[kind].size > 0)
    .map((kind) => ({ label: kind, style: kind, form: 'spots', values: times.map((at) => prices[kind].get(at) ?? null) }));
}

function priceOf({ input, output, amountIn, amountOut, value }: RecordedFill, { symbol, decimals }: InstrumentRecord): number | undefined {
  if (value === null || (input !== symbol && output !== symbol)) return undefined;
  const units = Number(output === symbol ? amountOut : amountIn) / 10 ** decimals;
  return units > 0 ? value / units : undefined;
}
