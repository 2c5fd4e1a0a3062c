import type { Millis } from '../core/time.ts';
import { shortDuration } from '../core/time.ts';
import type { ChartLine } from './charts/line-chart.ts';
import { lineChart } from './charts/line-chart.ts';
import type { Markup } from '../web/markup.ts';
import { markup } from '../web/markup.ts';
import type { InstrumentRecord, RunRecord } from '../backtest/record/run-record.ts';
import type { SwapWindow } from './price-samples.ts';
import { MOST_MARKS, swapWindows } from './price-samples.ts';
import { fillPrice } from './outcome-tables.ts';
import type { RecordedPrices, ReportInput } from './report-input.ts';

/** All price charts share this many parts, so that many markets do not make a large file. */
const PARTS_OF_MARKETS = 3_000;
const MOST_PARTS = 300;
const FEWEST_PARTS = 60;
const PARTS_OF_CLOSE_UPS = 150;
const COUNT_STEPS = 60;
const PRICE_NOTE = 'The price is the middle between the prices of a purchase and of a sale.';
const MANY_NOTE = 'The swaps are too many for this chart: the charts below show their number, and some of them.';

/** A swap in a price chart. */
interface Mark {
  readonly at: Millis;
  readonly kind: 'entry' | 'exit';
  readonly price: number;
}

/**
 * Returns charts of each market's price with its swaps: over the whole run, and over short windows where the swaps are
 * too many for one chart.
 */
export function marketCharts(input: ReportInput): Markup {
  const { run: { record }, silences } = input;
  const { instruments, currency, times } = record;
  if (instruments.length === 0) {
    return markup`<p class="none">The strategies watched no token that could be bought.</p>`;
  }
  const parts = Math.max(FEWEST_PARTS, Math.min(MOST_PARTS, Math.floor(PARTS_OF_MARKETS / instruments.length)));
  return markup`${instruments.map((instrument) => {
    const { symbol } = instrument;
    const marks = marksOf(record, instrument);
    const windows = swapWindows(record, instrument);
    const near = windows.map((window) => windowChart(input, { instrument, marks, window }));
    const areMany = windows.length > 0 && marks.length > 2 * MOST_MARKS;
    return markup`${lineChart({
      title: `${symbol}, ${currency} each`, times, kind: 'price', parts, gaps: silences?.bySymbol.get(symbol),
      empty: 'It never had a price in this recording.',
      lines: [
        { label: 'price', style: 'main', values: times.map((_, i) => middle(instrument, i)) },
        ...(areMany ? [] : markLines(marks, times)),
      ],
      notes: [PRICE_NOTE, ...(areMany ? [MANY_NOTE] : [])],
    })}
${areMany && countChart(symbol, marks, times)}
${near.slice(0, 1)}${near.length > 1 && markup`<div class="side-by-side">${near.slice(1)}</div>`}
`;
  })}`;
}

/**
 * Uses the recorded prices where the report has them: samples in steps of minutes are too coarse for swaps of seconds.
 */
function windowChart({ prices, run: { record }, silences }: ReportInput,
  { instrument, marks, window: { title, from, until } }: {
    readonly instrument: InstrumentRecord; readonly marks: readonly Mark[]; readonly window: SwapWindow;
  }): Markup {
  const { symbol } = instrument;
  const known = prices?.get(symbol) ?? coarsePrices(record, instrument);
  const near = marks.filter(({ at }) => at >= from && at <= until);
  const times = [...new Set([...known.times.filter((at) => at >= from && at <= until), ...near.map(({ at }) => at)])]
    .toSorted((a, b) => a - b);
  return lineChart({
    title: `${symbol}, ${record.currency} each: ${title}`, times, kind: 'price', parts: PARTS_OF_CLOSE_UPS,
    gaps: silences?.bySymbol.get(symbol), empty: 'It had no price then.',
    notes: [`${known.source} A swap stands where it was known to have landed.`],
    lines: [
      ...known.lines.map(({ label, values }, i): ChartLine =>
        ({ label, style: i === 0 ? 'main' : 'second', form: 'steps', values: carried(values, known.times, times) })),
      ...markLines(near, times),
    ],
  });
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

function countChart(symbol: string, marks: readonly Mark[], times: readonly Millis[]): Markup {
  const [begin, end] = [times[0]!, times.at(-1)!];
  const spanMs = (end - begin) / COUNT_STEPS;
  const nothing = (): number[] => Array.from({ length: COUNT_STEPS + 1 }, () => 0);
  const counts = { entry: nothing(), exit: nothing() };
  for (const { at, kind } of marks) counts[kind][Math.min(COUNT_STEPS - 1, Math.floor((at - begin) / spanMs))]! += 1;
  for (const column of [counts.entry, counts.exit]) column[COUNT_STEPS] = column[COUNT_STEPS - 1]!;
  return lineChart({
    title: `Swaps of ${symbol} in each ${shortDuration(spanMs)}`,
    times: Array.from({ length: COUNT_STEPS + 1 }, (_, i) => begin + i * spanMs), kind: 'count', include: [0],
    lines: [
      { label: 'entries', style: 'gain', form: 'steps', values: counts.entry },
      { label: 'exits', style: 'loss', form: 'steps', values: counts.exit },
    ],
  });
}

function markLines(marks: readonly Mark[], times: readonly Millis[]): ChartLine[] {
  return (['entry', 'exit'] as const).flatMap((kind): ChartLine[] => {
    const own = new Map(marks.filter((mark) => mark.kind === kind).map(({ at, price }) => [at, price]));
    return own.size === 0 ? []
      : [{ label: kind, style: kind, form: 'spots', values: times.map((at) => own.get(at) ?? null) }];
  });
}

function marksOf({ fills }: RunRecord, instrument: InstrumentRecord): Mark[] {
  return fills.flatMap((fill): Mark[] => {
    const price = fillPrice(fill, instrument);
    return price === undefined ? []
      : [{ at: fill.at, kind: fill.output === instrument.symbol ? 'entry' : 'exit', price }];
  });
}

function middle({ bids, asks }: InstrumentRecord, i: number): number | null {
  const [bid, ask] = [bids[i], asks[i]];
  return bid === null || bid === undefined || ask === null || ask === undefined ? null : Math.sqrt(bid * ask);
}
