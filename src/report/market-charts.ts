import type { Millis } from '../core/time.ts';
import { groupThousands } from '../core/text.ts';
import { unitText } from '../web/number-text.ts';
import type { ChartMark, TimeChartData } from '../web/charts/chart-data.ts';
import type { Markup } from '../web/markup.ts';
import { markup } from '../web/markup.ts';
import type { InstrumentRecord, RunRecord } from '../backtest/record/run-record.ts';
import type { Columns } from './charts/chart-figure.ts';
import { chartFigure, lineOf, PLAIN, pointsOf } from './charts/chart-figure.ts';
import { fillPrice } from './outcome-tables.ts';
import type { SwapWindow } from './price-samples.ts';
import { swapWindows } from './price-samples.ts';
import type { RecordedPrices, ReportInput } from './report-input.ts';

/** All price charts share this many parts, so that many markets do not make a large file. */
const PARTS_OF_MARKETS = 1_600;
const MOST_PARTS = 800;
const FEWEST_PARTS = 60;
/** More marks than these could not be told apart, and would make the chart slow. */
const MOST_DRAWN_MARKS = 600;
const PRICE_NOTE = 'The price is the middle between the prices of a purchase and of a sale. An arrow up is an entry, '
  + 'an arrow down an exit, at its price.';

/**
 * Returns charts of each market's price with its swaps: over the whole run, and over short windows where the swaps are
 * too many for one chart.
 */
export function marketCharts(input: ReportInput): Markup {
  const { run: { record }, silences } = input;
  const { instruments, times } = record;
  if (instruments.length === 0)
    return markup`<p class="none">The strategies watched no token that could be bought.</p>`;
  const parts = Math.max(FEWEST_PARTS, Math.min(MOST_PARTS, Math.floor(PARTS_OF_MARKETS / instruments.length)));
  return markup`${instruments.map((instrument) => {
    const marks = marksOf(record, instrument);
    const step = Math.ceil(marks.length / MOST_DRAWN_MARKS);
    const near = swapWindows(record, instrument);
    const [first, ...others] = near.map((window) => windowChart(input, { instrument, marks, window }));
    return markup`${chartFigure(priceChart(record, {
      instrument, title: `${instrument.symbol}/${record.currency}`, marks: marks.filter((_, i) => i % step === 0),
      columns: { times, gaps: silences?.bySymbol.get(instrument.symbol), parts },
    }), [
      PRICE_NOTE,
      step > 1 && `One in ${step} of ${groupThousands(String(marks.length))} swaps is marked: more would overlap.`,
    ])}
${first}${others.length > 0 && markup`<div class="side-by-side">${others}</div>`}
`;
  })}`;
}

function priceChart({ currency, times }: RunRecord, { instrument, title, marks, columns }: {
  readonly instrument: InstrumentRecord; readonly title: string; readonly marks: readonly ChartMark[];
  readonly columns: Columns;
}): TimeChartData {
  return {
    ...PLAIN, title, marks, units: [{ kind: 'price', symbol: currency }], hasCandles: true,
    lines: times[0] === times.at(-1) ? []
      : [lineOf('price', pointsOf(times.map((_, i) => middle(instrument, i)), columns))],
    empty: times[0] === times.at(-1) ? 'The run has no duration.' : 'It never had a price in this recording.',
  };
}

/**
 * Uses the recorded prices where the report has them: samples in steps of minutes are too coarse for swaps of seconds.
 */
function windowChart({ prices, run: { record }, silences }: ReportInput,
  { instrument, marks, window: { title, from, until } }: {
    readonly instrument: InstrumentRecord; readonly marks: readonly ChartMark[]; readonly window: SwapWindow;
  }): Markup {
  const { symbol } = instrument;
  const known = prices?.get(symbol) ?? coarsePrices(record, instrument);
  const isNear = (at: Millis): boolean => at >= from && at <= until;
  const near = marks.filter(({ at }) => isNear(at));
  const times = [...new Set([...known.times.filter(isNear), ...near.map(({ at }) => at)])].toSorted((a, b) => a - b);
  const columns = { times, gaps: silences?.bySymbol.get(symbol) };
  return chartFigure({
    ...PLAIN, title: `${symbol}/${record.currency}: ${title}`, marks: near, empty: 'It had no price then.',
    units: [{ kind: 'price', symbol: record.currency }],
    lines: known.lines.map(({ label, values }, i) =>
      lineOf(label, pointsOf(carried(values, known.times, times), columns),
        i === 0 ? { form: 'steps' } : { tone: 'third', form: 'dotted' })),
  }, [`${known.source} A swap stands where it was known to have landed.`]);
}

function coarsePrices({ times }: RunRecord, instrument: InstrumentRecord): RecordedPrices {
  return {
    times, lines: [{ label: 'price', values: times.map((_, i) => middle(instrument, i)) }],
    source: 'The price as the figures use it, sampled in steps and after each swap.',
  };
}

/** Returns the last known value at each of the times. */
function carried(values: readonly (number | null)[], known: readonly Millis[], times: readonly Millis[]): (number
    | null)[] {
  let next = 0;
  return times.map((at) => {
    while (next < known.length && known[next]! <= at) next += 1;
    return next === 0 ? null : values[next - 1]!;
  });
}

function marksOf({ fills, currency }: RunRecord, instrument: InstrumentRecord): ChartMark[] {
  return fills.flatMap((fill): ChartMark[] => {
    const price = fillPrice(fill, instrument);
    if (price === undefined) return [];
    const isBuy = fill.output === instrument.symbol;
    const worth = unitText(fill.value!, { kind: 'amount', symbol: currency });
    return [{
      at: fill.at, kind: isBuy ? 'buy' : 'sell', value: price,
      text: `${isBuy ? 'bought' : 'sold'} for ${worth} at ${unitText(price, { kind: 'price' })}`,
    }];
  });
}

function middle({ bids, asks }: InstrumentRecord, i: number): number | null {
  const [bid, ask] = [bids[i], asks[i]];
  return bid === null || bid === undefined || ask === null || ask === undefined ? null : Math.sqrt(bid * ask);
}
