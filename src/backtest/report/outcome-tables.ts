import { amountText, valueText } from '../page/value-text.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import type { Cell } from '../page/table.ts';
import { columnsOf, dataTable } from '../page/table.ts';
import { DENIALS } from '../../trading/denials.ts';
import { SIMULATION_REFUSALS } from '../simulation-warnings.ts';
import { yearsOf } from './printed.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

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
export function costTable({ costs, run: { record: { currency } } }: ReportInput): Markup {
  const total = costs.reduce((sum, { value, isApart }) => sum + (isApart ? 0 : value ?? 0), 0);
  const row = ({ what, paid, value }: (typeof costs)[number]): readonly Cell[] => [what, paid, value === null ? '' : amountText(value)];
  return markup`${dataTable({
    label: 'Costs', columns: columnsOf('for', 'paid', `worth, ${currency}`),
    rows: [...costs.filter(({ isApart }) => !isApart).map(row), [markup`<b>together</b>`, '', markup`<b>${amountText(total)}</b>`]],
  })}
<h3>Not added up above</h3>${dataTable({ label: 'Parts of the costs, and what is none', columns: columnsOf('what', 'amount', `worth, ${currency}`), rows: costs.filter(({ isApart }) => isApart).map(row) })}`;
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
