import { histogram } from '../metrics/histogram.ts';
import { roundTrips } from '../metrics/round-trips.ts';
import { plainText, shareText } from '../metrics/shown-metrics.ts';
import { tradeFills } from '../record/run-figures.ts';
import type { InstrumentRecord, RecordedFill } from '../record/run-record.ts';
import { histogramChart } from './bar-chart.ts';
import type { ChartLine, ChartMark } from './chart.ts';
import { lineChart } from './chart.ts';
import type { Markup } from './markup.ts';
import { markup } from './markup.ts';
import type { ReportInput } from './report-input.ts';

/** Returns the charts of equity, drawdown and exposure. */
export function equityCharts({ run: { series, record }, benchmarks: { buy_and_hold: holding, dca } }: ReportInput): Markup {
  const { times, values, held } = series;
  const beside = ([[holding, 'buy and hold', 'second'], [dca, 'bought step by step', 'third']] as const)
    .flatMap(([benchmark, label, style]): ChartLine[] => (benchmark === undefined ? [] : [{ label, style, values: benchmark.series.values }]));
  let peak = -Infinity;
  const falls = values.map((value) => {
    peak = Math.max(peak, value);
    return peak > 0 ? value / peak - 1 : 0;
  });
  return markup`<h2>Equity and drawdown</h2>
${lineChart({ title: `Equity, ${record.currency}, after costs, at what a sale would bring`, times, show: plainly, lines: [...beside, { label: 'strategy', style: 'main', values }] })}
${lineChart({ title: 'Below the last peak', times, show: shareText, atLeast: [0], lines: [{ label: 'drawdown', style: 'loss', values: falls, isFilled: true }] })}
<h2>Exposure</h2>
${lineChart({ title: 'Share of equity held in tokens', times, show: shareText, atLeast: [0], lines: [{ label: 'exposure', style: 'main', isFilled: true, values: held.map((value, i) => (values[i]! > 0 ? value / values[i]! : 0)) }] })}`;
}

/** Returns a chart of each market's price with the swaps in it. */
export function marketCharts({ run: { record } }: ReportInput): Markup {
  const charts = record.instruments.map((instrument) => {
    const known = record.times.flatMap((at, i) => {
      const [bid, ask] = [instrument.bids[i], instrument.asks[i]];
      return bid === null || bid === undefined || ask === null || ask === undefined ? [] : [{ at, price: Math.sqrt(bid * ask) }];
    });
    const marks = record.fills.flatMap((fill) => markOf(fill, instrument));
    return lineChart({
      title: `${instrument.symbol}, ${record.currency} each`, times: known.map(({ at }) => at), show: plainly, marks,
      lines: [{ label: 'price', style: 'main', values: known.map(({ price }) => price) }],
    });
  });
  return markup`<h2>Prices with entries and exits</h2>
${charts.length === 0 ? markup`<p class="none">No market was watched that could be bought.</p>` : charts}`;
}

/** Returns the distribution of what round trips came to. */
export function tradeResultChart({ run: { record, assessment: { trades } } }: ReportInput): Markup {
  const { trips, open } = roundTrips(tradeFills(record));
  const profits = trips.map(({ profit }) => profit);
  return markup`<h2>Results of trades</h2>
${histogramChart(`Round trips by what they came to, ${record.currency}, after costs`, histogram(profits), plainly)}
<p class="soft">${trips.length} round trips (first in, first out): ${trades?.wins ?? 0} won, ${trades?.losses ?? 0} lost, ${trades?.breakeven ?? 0} even${profits.length === 0 ? '' : `; best ${plainly(profits.reduce((a, b) => Math.max(a, b)))}, worst ${plainly(profits.reduce((a, b) => Math.min(a, b)))} ${record.currency}`}. ${open.length} purchases are still held, in part or whole.</p>`;
}

function markOf({ at, input, output, amountIn, amountOut, value }: RecordedFill, { symbol, decimals }: InstrumentRecord): ChartMark[] {
  if (value === null || (input !== symbol && output !== symbol)) return [];
  const units = Number(output === symbol ? amountOut : amountIn) / 10 ** decimals;
  return units > 0 ? [{ at, value: value / units, kind: output === symbol ? 'entry' : 'exit' }] : [];
}

/** Six digits are enough to read. */
function plainly(value: number): string {
  return plainText(Number(value.toPrecision(6)));
}
