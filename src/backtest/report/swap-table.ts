import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import { dataTable, nameText, wholeWords } from '../page/table.ts';
import { instantText } from '../page/time-axis.ts';
import { amountText, valueText } from '../page/value-text.ts';
import { fillPrice } from './fill-price.ts';
import type { NamedText, ReportInput } from './report-input.ts';
import { landedSwaps } from './shortfalls.ts';

const FILLS_SHOWN = 50;

/** Returns the last swaps with what is to be known of each. */
export function swapTable(input: ReportInput): Markup {
  const { record } = input.run;
  const swaps = landedSwaps(input);
  const first = Math.max(0, swaps.length - FILLS_SHOWN);
  const rows = swaps.slice(first).map(({ fill: { at, intent, notes }, record: fill, shortfall }) => {
    const price = fill === undefined ? undefined : record.instruments.map((instrument) => fillPrice(fill, instrument)).find((each) => each !== undefined);
    return {
      time: wholeWords(instantText(at)), swap: markup`${nameText(fill?.input ?? '')} to ${nameText(fill?.output ?? '')}`,
      worth: fill?.value === null || fill === undefined ? '' : amountText(fill.value), price: price === undefined ? '' : valueText(price, 'price'),
      short: shortfall === undefined ? '' : valueText(shortfall.total, 'ratio'),
      strategy: nameText(intent.strategy), reason: intent.reason, marks: notes.marks.join(', '),
    };
  });
  if (rows.length === 0) return markup`<p class="none">None.</p>`;
  const isShown = { short: rows.some(({ short }) => short !== ''), strategy: record.strategies.length > 1, marks: rows.some(({ marks }) => marks !== '') };
  const columns = [
    { of: 'time', name: 'time, UTC', isText: true }, { of: 'swap', name: 'swap', isText: true }, { of: 'worth', name: `worth, ${record.currency}` }, { of: 'price', name: `price, ${record.currency}` }, ...(isShown.short ? [{ of: 'short', name: 'short by, bps' } as const] : []),
    ...(isShown.strategy ? [{ of: 'strategy', name: 'strategy', isText: true } as const] : []), { of: 'reason', name: 'reason', isText: true, isLong: true },
    ...(isShown.marks ? [{ of: 'marks', name: 'its price is', isText: true } as const] : []),
  ] as const;
  return markup`${first > 0 && markup`<p class="soft">The last ${FILLS_SHOWN} of ${valueText(swaps.length, 'count')}. What each fell short by is against the last price that was quoted when it was decided; below 0 it came out better.</p>`}${dataTable({ label: 'Swaps', columns, rows: rows.map((row) => columns.map(({ of }) => row[of])) })}`;
}

/** Returns names and what they are. */
export function namedTable(label: string, rows: readonly NamedText[]): Markup {
  return dataTable({
    label, columns: [{ name: 'name', isText: true }, { name: 'value', isText: true }], isWide: true,
    rows: rows.map(([name, text]) => [nameText(name), markup`<code>${(typeof text === 'string' ? [text] : text).map((line, i) => markup`${i > 0 && markup`<br>`}${line}`)}</code>`]),
  });
}
