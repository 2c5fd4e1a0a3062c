import { amountText } from '../page/value-text.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import type { Cell } from '../page/table.ts';
import { columnsOf, dataTable } from '../page/table.ts';
import { yearsOf } from './printed.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns the months of each year. */
export function monthlyTable({ months, run: { series } }: ReportInput, { figure }: ReportFigures): Markup {
  if (series.times.length < 2) return markup`<p class="none">No time passed in which what was held could be valued.</p>`;
  const cell = (name: string, change: number | undefined): Cell => markup`<span class="${change !== undefined && change < 0 ? 'loss' : 'gain'}">${figure(name)}</span>`;
  return markup`${dataTable({
    label: 'Returns by month',
    columns: columnsOf('year', ...MONTHS, 'all'),
    rows: yearsOf(months).map(({ year, months: own, change }) => [
      year,
      ...MONTHS.map((_, i) => {
        const month = own.find((each) => each.month === i + 1);
        return month === undefined ? '' : cell(`month ${year}-${i + 1}`, month.change);
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
    label: 'Costs', columns: columnsOf('for', 'paid', currency),
    rows: [...costs.filter(({ isApart }) => !isApart).map(row), [markup`<b>together</b>`, '', markup`<b>${amountText(total)}</b>`]],
  })}
<h3>Not added up above</h3>${dataTable({ label: 'Parts of the costs, and what is none', columns: columnsOf('what', 'amount', currency), rows: costs.filter(({ isApart }) => isApart).map(row) })}`;
}

/** Returns what was refused, and what became of the rest. */
export function denialTables({ run: { result: { denials, intents, simulation } } }: ReportInput): Markup {
  return markup`<div class="side-by-side">${[
    countTable('Denied by the risk limits', 'code', denials),
    countTable('What became of the swaps let through', 'end', intents),
    countTable('Given up because it cannot be simulated', 'code', simulation.refusals),
  ]}</div>`;
}

function countTable(title: string, first: string, counts: Readonly<Record<string, number>>): Markup {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return markup`<div><h3>${title}</h3>${rows.length === 0 ? markup`<p class="none">None.</p>` : dataTable({ label: title, columns: columnsOf(first, 'times'), rows })}</div>`;
}
