import { amountText, valueText } from '../page/value-text.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import type { Cell } from '../page/table.ts';
import { columnsOf, dataTable } from '../page/table.ts';
import { DENIALS } from '../../trading/denials.ts';
import { SIMULATION_REFUSALS } from '../simulation-warnings.ts';
import { costRatio } from '../metrics/exposure.ts';
import { shareText } from '../metrics/figure-text.ts';
import { yearsOf } from './printed.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';
import { landedSwaps, meanShortfall } from './shortfalls.ts';

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
  if (series.times.length < 2) return markup`<p class="none">No time passed in which what was held could be valued.</p>`;
  const shown = MONTHS.flatMap((name, i) => (months.some(({ month }) => month === i + 1) ? [{ name, number: i + 1 }] : []));
  const cell = (name: string, change: number | undefined): Cell => markup`<span class="${change !== undefined && change < 0 ? 'loss' : 'gain'}">${figure(name)}</span>`;
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
  const row = ({ what, paid, value }: (typeof costs)[number]): readonly Cell[] => [what, paid, value === null ? '' : amountText(value)];
  return markup`${dataTable({
    label: 'Costs', columns: columnsOf('for', 'paid', `worth, ${currency}`),
    rows: [...costs.filter(({ isApart }) => !isApart).map(row), [markup`<b>together</b>`, '', markup`<b>${amountText(total)}</b>`]],
  })}
<p class="soft">${costShareText({ total, gained: series.values.length < 2 ? undefined : series.values.at(-1)! - series.values[0]! }, currency)}</p>
<h3>Not added up above</h3>${dataTable({ label: 'Parts of the costs, and what is none', columns: columnsOf('what', 'amount', `worth, ${currency}`), rows: costs.filter(({ isApart }) => isApart).map(row) })}
${shortfallTable(input)}`;
}

/** Costs are told by what they were taken from. */
function costShareText({ total, gained }: { readonly total: number; readonly gained: number | undefined }, currency: string): string {
  if (gained === undefined) return 'By what they are of what was gained cannot be said: what was held could not be valued.';
  const gross = gained + total;
  const share = costRatio(total, gross);
  return share === undefined ? `Before these costs it came to ${amountText(gross)} ${currency}: there was no gain for them to be a part of. What the spread takes is in the prices, and not in this.`
    : `These took ${shareText(share)} of the ${amountText(gross)} ${currency} that were gained before them. What the spread takes is in the prices, and not in this.`;
}

/** Returns how far swaps fell short of the prices that they were decided on. */
function shortfallTable(input: ReportInput): Markup {
  const swaps = landedSwaps(input);
  const { currency } = input.run.record;
  const rows = ([['entries', 'entry'], ['exits', 'exit'], ['all', undefined]] as const).flatMap(([name, purpose]): (readonly Cell[])[] => {
    const mean = meanShortfall(purpose === undefined ? swaps : swaps.filter(({ fill }) => fill.intent.purpose === purpose));
    if (mean === undefined) return [];
    return [[name, valueText(mean.swaps, 'count'), ...[mean.delay, mean.slippage, mean.fees, mean.total].map((bps) => valueText(bps, 'ratio')), amountText((mean.total / 10_000) * mean.worth)]];
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
  readonly first: string; readonly counts: Readonly<Record<string, number>>; readonly meanings: Readonly<Record<string, string>>;
}): Markup {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a).map(([code, count]) => [codeText(code), valueText(count, 'count'), meanings[code] ?? '']);
  return markup`<h3>${title}</h3>${rows.length === 0 ? markup`<p class="none">None.</p>` : dataTable({ label: title, columns: [...columnsOf(first, 'times'), { name: 'meaning', isText: true }], rows })}
`;
}
