import { amountText, valueText } from '../research/metrics/value-text.ts';
import type { Cell, Markup } from '../web/markup.ts';
import { columnsOf, dataTable, markup, nameText, note, wholeWords } from '../web/markup.ts';
import { DENIALS } from '../trading/limits.ts';
import { SIMULATION_REFUSALS } from '../backtest/simulation-notes.ts';
import { costRatio } from '../research/metrics/trading-measures.ts';
import { shareText } from '../research/metrics/figure-text.ts';
import { instantText } from './printed-figures.ts';
import type { ReportInput } from './report-input.ts';
import type { InstrumentRecord, RecordedFill } from '../backtest/record/run-record.ts';
import { landedSwaps, meanShortfall } from './swap-shortfalls.ts';

const FILLS_SHOWN = 50;
const SHORTFALL_NOTE = 'The shortfall is against the last quoted price at the decision; below 0 the swap was better.';

/** Returns a table of the last swaps. */
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
    ...(isShown.short ? [{ of: 'short', name: 'shortfall, bps' } as const] : []),
    ...(isShown.strategy ? [{ of: 'strategy', name: 'strategy', isText: true } as const] : []),
    { of: 'reason', name: 'reason', isText: true, isLong: true },
    ...(isShown.marks ? [{ of: 'marks', name: 'its price', isText: true } as const] : []),
  ] as const;
  return markup`${first > 0 && markup`<p class="soft">The last ${FILLS_SHOWN} of ${valueText(swaps.length, 'count')}. ${
    SHORTFALL_NOTE}</p>`}<div class="sortable">${dataTable({
    label: 'Landed swaps', columns, rows: rows.map((row) => columns.map(({ of }) => row[of])),
  })}</div>`;
}

/** The final states of approved swaps. */
const ENDS: Readonly<Record<string, string>> = {
  confirmed: 'it landed and swapped',
  failed: 'it landed, but the price had moved too far: it paid fees and did not swap',
  expired: 'it never landed: it paid nothing and did not swap',
  abandoned: 'it was abandoned before a transaction was sent',
};

/** Returns the costs by kind. */
export function costTable(input: ReportInput): Markup {
  const { costs, run: { record: { currency }, series } } = input;
  const total = costs.reduce((sum, { value, isApart }) => sum + (isApart ? 0 : value ?? 0), 0);
  const row = ({ what, paid, value }: (typeof costs)[number]): readonly Cell[] =>
    [what, paid, value === null ? '' : amountText(value)];
  const gained = series.values.length < 2 ? undefined : series.values.at(-1)! - series.values[0]!;
  return markup`${dataTable({
    label: 'Costs', columns: columnsOf('for', 'paid', `worth, ${currency}`),
    rows: [
      ...costs.filter(({ isApart }) => !isApart).map(row),
      [markup`<b>total</b>`, '', markup`<b>${amountText(total)}</b>`],
    ],
  })}
<p class="soft">${costShareText({ total, gained }, currency)}</p>
<h3>Not in the total</h3>${dataTable({
    label: 'Parts of the costs, and amounts that are no cost',
    columns: columnsOf('item', 'amount', `worth, ${currency}`),
    rows: costs.filter(({ isApart }) => isApart).map(row),
  })}
${shortfallTable(input)}`;
}

/** Returns the costs as a share of the gain that they reduced. */
function costShareText(
  { total, gained }: { readonly total: number; readonly gained: number | undefined }, currency: string,
): string {
  if (gained === undefined)
    return 'The share of the gain is unknown: the holdings could not be valued.';
  const gross = gained + total;
  const share = costRatio(total, gross);
  const amount = `${amountText(gross)} ${currency}`;
  const part = share === undefined ? `Before these costs the result was ${amount}, which is no gain.`
    : `These costs are ${shareText(share)} of the gain before them, ${amount}.`;
  return `${part} The spread is in the prices, and not in these costs.`;
}

/** Returns the shortfall of swaps against the prices of their decisions. */
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
  if (rows.length === 0) {
    return markup`<h3>Shortfall of swaps</h3><p class="none">No landed swap has a known price at its decision.</p>`;
  }
  return markup`<h3>Shortfall of swaps</h3>${dataTable({
    label: 'Implementation shortfall', rows,
    columns: columnsOf(
      'swaps', 'number', 'before the quote, bps', 'after it, bps', 'fees, bps', 'total, bps', `total, ${currency}`,
    ),
  })}${note('Implementation shortfall (A. Perold, 1988) of the landed swaps, weighted by value: each against the last '
    + 'quoted price of its pair at the decision, in either direction. It contains the spread, the impact of the size '
    + 'and the move of the price while the swap waited. Below 0 the swap was better.')}`;
}

/** Returns the denied swaps, the final states of the approved ones, and those that could not be simulated. */
export function denialTables({ run: { result: { denials, intents, simulation } } }: ReportInput): Markup {
  const meanings = Object.fromEntries(Object.entries(DENIALS).map(([code, { meaning }]) => [code, meaning]));
  return markup`${[
    countTable('Denied by the risk limits', { first: 'code', counts: denials, meanings }),
    countTable('Final states of the approved swaps', { first: 'state', counts: intents, meanings: ENDS }),
    countTable('Abandoned because they cannot be simulated', {
      first: 'code', counts: simulation.refusals, meanings: SIMULATION_REFUSALS,
    }),
  ]}`;
}

/** Returns a code that may wrap between its words on a narrow page. */
function codeText(code: string): Markup {
  return markup`${code.split('_').map((word, i) => markup`${i > 0 && markup`_<wbr>`}${word}`)}`;
}

function countTable(title: string, { first, counts, meanings }: {
  readonly first: string; readonly counts: Readonly<Record<string, number>>;
  readonly meanings: Readonly<Record<string, string>>;
}): Markup {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => [codeText(code), valueText(count, 'count'), meanings[code] ?? '']);
  return markup`<h3>${title}</h3>${rows.length === 0 ? markup`<p class="none">None.</p>` : dataTable({
    label: title, columns: [...columnsOf(first, 'times'), { name: 'meaning', isText: true }], rows,
  })}
`;
}

/**
 * Returns the price of one whole token of an instrument in a swap, in the currency; undefined for other instruments,
 * and without a value.
 */
export function fillPrice({ input, output, amountIn, amountOut, value }: RecordedFill, {
  symbol, decimals,
}: Pick<InstrumentRecord, 'symbol' | 'decimals'>): number | undefined {
  if (value === null || (input !== symbol && output !== symbol)) return undefined;
  const units = Number(output === symbol ? amountOut : amountIn) / 10 ** decimals;
  return units > 0 ? value / units : undefined;
}
