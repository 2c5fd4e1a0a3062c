import { amountText, valueText } from '../research/metrics/value-text.ts';
import type { Cell, Markup } from './markup.ts';
import { columnsOf, dataTable, markup, nameText, wholeWords } from './markup.ts';
import { DENIALS } from '../trading/denials.ts';
import { SIMULATION_REFUSALS } from '../backtest/simulation-notes.ts';
import type { Shortfall } from '../research/metrics/trading-measures.ts';
import { costRatio, implementationShortfall } from '../research/metrics/trading-measures.ts';
import { shareText } from '../research/metrics/figure-text.ts';
import { yearsOf } from './printed-figures.ts';
import type { NamedText, ReportFigures, ReportInput } from './report-input.ts';
import type { BacktestResult } from '../backtest/backtest.ts';
import type { InstrumentRecord, RecordedFill } from '../backtest/record/run-record.ts';
import { instantText } from './axis.ts';

const FILLS_SHOWN = 50;

/** Returns the last swaps with what is to be known of each. */
export function swapTable(input: ReportInput): Markup {
  const { record } = input.run;
  const swaps = landedSwaps(input);
  const first = Math.max(0, swaps.length - FILLS_SHOWN);
  const rows = swaps.slice(first).map(({ fill: { at, intent, notes }, record: fill, shortfall }) => {
    const price = fill === undefined ? undefined
      : record.instruments.map((instrument) => fillPrice(fill, instrument)).find((each) => each !== undefined);
    return {
      time: wholeWords(instantText(at)),
      swap: markup`${nameText(fill?.input ?? '')} to ${nameText(fill?.output ?? '')}`,
      worth: fill?.value === null || fill === undefined ? '' : amountText(fill.value),
      price: price === undefined ? '' : valueText(price, 'price'),
      short: shortfall === undefined ? '' : valueText(shortfall.total, 'ratio'),
      strategy: nameText(intent.strategy), reason: intent.reason, marks: notes.marks.join(', '),
    };
  });
  if (rows.length === 0) return markup`<p class="none">None.</p>`;
  const isShown = {
    short: rows.some(({ short }) => short !== ''), strategy: record.strategies.length > 1,
    marks: rows.some(({ marks }) => marks !== ''),
  };
  const columns = [
    { of: 'time', name: 'time, UTC', isText: true }, { of: 'swap', name: 'swap', isText: true },
    { of: 'worth', name: `worth, ${record.currency}` }, { of: 'price', name: `price, ${record.currency}` },
    ...(isShown.short ? [{ of: 'short', name: 'short by, bps' } as const] : []),
    ...(isShown.strategy ? [{ of: 'strategy', name: 'strategy', isText: true } as const] : []),
    { of: 'reason', name: 'reason', isText: true, isLong: true },
    ...(isShown.marks ? [{ of: 'marks', name: 'its price is', isText: true } as const] : []),
  ] as const;
  return markup`${first > 0 && markup`<p class="soft">The last ${FILLS_SHOWN} of ${valueText(swaps.length, 'count')}. What each fell short by is against the last price that was quoted when it was decided; below 0 it came out better.</p>`}${dataTable({ label: 'Swaps', columns, rows: rows.map((row) => columns.map(({ of }) => row[of])) })}`;
}

/** Returns names and what they are. */
export function namedTable(label: string, rows: readonly NamedText[]): Markup {
  return dataTable({
    label, columns: [{ name: 'name', isText: true }, { name: 'value', isText: true }], isWide: true,
    rows: rows.map(([name, text]) =>
      [nameText(name), markup`<code>${(typeof text === 'string' ? [text] : text).map((line, i) => markup`${i > 0 && markup`<br>`}${line}`)}</code>`]),
  });
}

/** How a swap that was let through may end. */
const ENDS: Readonly<Record<string, string>> = {
  confirmed: 'it landed and did its work',
  failed: 'it landed, but the price had moved too far: fees are lost, nothing is swapped',
  expired: 'it never landed: nothing is swapped, nothing is paid',
  abandoned: 'it was given up before anything was sent',
};
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns the months of each year. */
export function monthlyTable({ months, run: { series } }: ReportInput, { figure }: ReportFigures): Markup {
  if (series.times.length < 2)
    return markup`<p class="none">No time passed in which what was held could be valued.</p>`;
  const shown = MONTHS.flatMap((name, i) =>
    (months.some(({ month }) => month === i + 1) ? [{ name, number: i + 1 }] : []));
  const cell = (name: string, change: number | undefined): Cell =>
    markup`<span class="${change !== undefined && change < 0 ? 'loss' : 'gain'}">${figure(name)}</span>`;
  return markup`${dataTable({
    label: 'Returns by month',
    columns: columnsOf('year', ...shown.map(({ name }) => name), 'all'),
    rows: yearsOf(months).map(({ year, months: own, change }) => [
      year,
      ...shown.map(({ number }) => {
        const month = own.find((each) => each.month === number);
        return month === undefined ? '' : cell(`month ${year}-${number}`, month.change);
      }),
      cell(`year ${year}`, change),
    ]),
  })}<p class="note">By UTC; the first and the last month may be parts.</p>`;
}

/** Returns what it all cost. */
export function costTable(input: ReportInput): Markup {
  const { costs, run: { record: { currency }, series } } = input;
  const total = costs.reduce((sum, { value, isApart }) => sum + (isApart ? 0 : value ?? 0), 0);
  const row = ({ what, paid, value }: (typeof costs)[number]): readonly Cell[] =>
    [what, paid, value === null ? '' : amountText(value)];
  return markup`${dataTable({
    label: 'Costs', columns: columnsOf('for', 'paid', `worth, ${currency}`),
    rows: [...costs.filter(({ isApart }) => !isApart).map(row), [markup`<b>together</b>`, '', markup`<b>${amountText(total)}</b>`]],
  })}
<p class="soft">${costShareText({ total, gained: series.values.length < 2 ? undefined : series.values.at(-1)! - series.values[0]! }, currency)}</p>
<h3>Not added up above</h3>${dataTable({ label: 'Parts of the costs, and what is none', columns: columnsOf('what', 'amount', `worth, ${currency}`), rows: costs.filter(({ isApart }) => isApart).map(row) })}
${shortfallTable(input)}`;
}

/** Costs are told by what they were taken from. */
function costShareText(
  { total, gained }: { readonly total: number; readonly gained: number | undefined }, currency: string,
): string {
  if (gained === undefined)
    return 'By what they are of what was gained cannot be said: what was held could not be valued.';
  const gross = gained + total;
  const share = costRatio(total, gross);
  return share === undefined ? `Before these costs it came to ${amountText(gross)} ${currency}: there was no gain for `
    + 'them to be a part of. What the spread takes is in the prices, and not in this.'
    : `These took ${shareText(share)} of the ${amountText(gross)} ${currency} that were gained before them. What the `
      + 'spread takes is in the prices, and not in this.';
}

/** Returns how far swaps fell short of the prices that they were decided on. */
function shortfallTable(input: ReportInput): Markup {
  const swaps = landedSwaps(input);
  const { currency } = input.run.record;
  const rows = ([['entries', 'entry'], ['exits', 'exit'], ['all', undefined]] as const)
    .flatMap(([name, purpose]): (readonly Cell[])[] => {
      const mean = meanShortfall(purpose === undefined ? swaps
        : swaps.filter(({ fill }) => fill.intent.purpose === purpose));
      if (mean === undefined) return [];
      return [[
        name, valueText(mean.swaps, 'count'),
        ...[mean.delay, mean.slippage, mean.fees, mean.total].map((bps) => valueText(bps, 'ratio')),
        amountText((mean.total / 10_000) * mean.worth),
      ]];
    });
  return markup`<h3>What swaps fell short by</h3>${rows.length === 0 ? markup`<p class="none">No swap landed that can be held against its decision.</p>` : markup`${dataTable({
    label: 'Implementation shortfall', columns: columnsOf('swaps', 'how many', 'before the quote, bps', 'after it, bps', 'fees, bps', 'together, bps', `together, ${currency}`), rows,
  })}<p class="note">Implementation shortfall (A. Perold, 1988) of the swaps that landed: each against the last price that was quoted of its pair, either way, when it was decided, and weighing by its worth. So the spread, the impact of the size and whatever the price did while the swap waited are in it. Below 0: it came out better.</p>`}`;
}

/** Returns what was refused, and what became of the rest. */
export function denialTables({ run: { result: { denials, intents, simulation } } }: ReportInput): Markup {
  return markup`${[
    countTable('Denied by the risk limits', { first: 'code', counts: denials, meanings: Object.fromEntries(Object.entries(DENIALS).map(([code, { meaning }]) => [code, meaning])) }),
    countTable('What became of the swaps let through', { first: 'end', counts: intents, meanings: ENDS }),
    countTable('Given up because it cannot be simulated', { first: 'code', counts: simulation.refusals, meanings: SIMULATION_REFUSALS }),
  ]}`;
}

/** A code that may be broken between its words, where there is little room. */
function codeText(code: string): Markup {
  return markup`${code.split('_').map((word, i) => markup`${i > 0 && markup`_<wbr>`}${word}`)}`;
}

function countTable(title: string, { first, counts, meanings }: {
  readonly first: string; readonly counts: Readonly<Record<string, number>>;
  readonly meanings: Readonly<Record<string, string>>;
}): Markup {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => [codeText(code), valueText(count, 'count'), meanings[code] ?? '']);
  return markup`<h3>${title}</h3>${rows.length === 0 ? markup`<p class="none">None.</p>` : dataTable({ label: title, columns: [...columnsOf(first, 'times'), { name: 'meaning', isText: true }], rows })}
`;
}

/** A swap that landed, with what is known of it. */
export interface LandedSwap {
  readonly fill: BacktestResult['fills'][number];
  /** Undefined where nobody recorded it. */
  readonly record: RecordedFill | undefined;
  /**
   * Against the last price that was quoted of its pair when it was decided; undefined where that is not known, or it
   * has no value.
   */
  readonly shortfall: Shortfall | undefined;
}

/** What some swaps fell short by, basis points of their worth: each weighs by what it was worth. */
export interface MeanShortfall extends Shortfall {
  readonly swaps: number;
  /** In the currency. */
  readonly worth: number;
}

/** Returns the swaps of the strategies that have a budget, in order. */
export function landedSwaps(
  { run: { result, record }, decisionRates }: Pick<ReportInput, 'run' | 'decisionRates'>,
): LandedSwap[] {
  const recorded = new Set(record.strategies.map(({ name }) => name));
  return result.fills.filter(({ intent }) => recorded.has(intent.strategy)).map((fill, i) =>
    ({ fill, record: record.fills[i], shortfall: shortfallOf(decisionRates?.get(fill.intent.id), record.fills[i]) }));
}

/** Returns the mean shortfall of swaps; undefined where none has one. */
export function meanShortfall(swaps: readonly LandedSwap[]): MeanShortfall | undefined {
  const known = swaps.flatMap(({ record, shortfall }) =>
    (shortfall === undefined || record === undefined ? [] : [{ worth: record.value ?? 0, shortfall }]));
  const worth = known.reduce((sum, each) => sum + each.worth, 0);
  if (worth <= 0) return undefined;
  const mean = (part: keyof Shortfall): number =>
    known.reduce((sum, each) => sum + each.worth * each.shortfall[part], 0) / worth;
  return {
    swaps: known.length, worth, total: mean('total'), delay: mean('delay'), slippage: mean('slippage'),
    fees: mean('fees'), opportunity: mean('opportunity'),
  };
}

/** A sale of what goes in, priced in what comes out: so a purchase and a sale are worked out alike. */
function shortfallOf(decisionPrice: number | undefined, record: RecordedFill | undefined): Shortfall | undefined {
  if (record === undefined || decisionPrice === undefined || record.value === null || record.value <= 0)
    return undefined;
  const { amountIn, amountOut, quotedOut, value, costs } = record;
  const quantity = Number(amountIn);
  const price = (out: string): number => Number(out) / quantity;
  return implementationShortfall({
    side: 'sell', quantity, decisionPrice, quotePrice: quotedOut === null ? undefined : price(quotedOut),
    fills: [{ price: price(amountOut), quantity }], endPrice: price(amountOut),
    fees: ((costs ?? 0) / value) * Number(amountOut),
  });
}

/**
 * Returns what one whole token of an instrument was bought or sold for, in the currency; undefined where a swap was not
 * of it, or has no value.
 */
export function fillPrice({ input, output, amountIn, amountOut, value }: RecordedFill, {
  symbol, decimals,
}: Pick<InstrumentRecord, 'symbol' | 'decimals'>): number | undefined {
  if (value === null || (input !== symbol && output !== symbol)) return undefined;
  const units = Number(output === symbol ? amountOut : amountIn) / 10 ** decimals;
  return units > 0 ? value / units : undefined;
}
