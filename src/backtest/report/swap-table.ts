import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import { dataTable, nameText } from '../page/table.ts';
import { instantText } from '../page/time-axis.ts';
import { amountText } from '../page/value-text.ts';
import type { NamedText, ReportInput } from './report-input.ts';

const FILLS_SHOWN = 100;

/** Returns the last swaps with what is to be known of each. */
export function swapTable({ run: { result, record } }: ReportInput): Markup {
  const recorded = new Set(record.strategies.map(({ name }) => name));
  const fills = result.fills.filter(({ intent }) => recorded.has(intent.strategy));
  const first = Math.max(0, fills.length - FILLS_SHOWN);
  const rows = fills.slice(first).map(({ at, intent, notes }, i) => {
    const fill = record.fills[first + i];
    return [
      instantText(at), nameText(intent.strategy), markup`${nameText(fill?.input ?? '')} → ${nameText(fill?.output ?? '')}`,
      fill?.value === null || fill === undefined ? '' : amountText(fill.value), intent.reason, notes.marks.join(', '),
    ];
  });
  const hasMarks = rows.some((row) => row.at(-1) !== '');
  if (rows.length === 0) return markup`<p class="none">None.</p>`;
  return markup`${first > 0 && markup`<p class="soft">The last ${FILLS_SHOWN} of ${fills.length}.</p>`}${dataTable({
    label: 'Swaps', rows: hasMarks ? rows : rows.map((row) => row.slice(0, -1)),
    columns: [
      { name: 'time, UTC' }, { name: 'strategy', isText: true }, { name: 'swap', isText: true }, { name: record.currency }, { name: 'reason', isText: true }, ...(hasMarks ? [{ name: 'its price is', isText: true }] : []),
    ],
  })}`;
}

/** Returns names and what they are. */
export function namedTable(label: string, rows: readonly NamedText[]): Markup {
  return dataTable({
    label, columns: [{ name: 'name', isText: true }, { name: 'value', isText: true }], isWide: true,
    rows: rows.map(([name, text]) => [nameText(name), markup`<code>${(typeof text === 'string' ? [text] : text).map((line, i) => markup`${i > 0 && markup`<br>`}${line}`)}</code>`]),
  });
}
