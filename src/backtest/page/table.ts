import type { Markup } from './markup.ts';
import { markup } from './markup.ts';

/** What stands in a table: text, which is escaped, or a piece of a page. */
export type Cell = string | number | Markup;

/** A column of a table. */
export interface Column {
  readonly name: string | Markup;
  /** Words stand to the left and may be broken; numbers stand to the right and may not. */
  readonly isText?: boolean | undefined;
  /** Whole sentences stand in it: it is given room even where the page is narrow. */
  readonly isLong?: boolean | undefined;
}

/** Returns columns of numbers after one that names its rows. */
export function columnsOf(first: string, ...others: readonly string[]): Column[] {
  return [{ name: first, isText: true }, ...others.map((name) => ({ name }))];
}

/** Returns a table in a box of its own, in which it can be moved sideways where the page is too narrow for it. The first cell of each row names the row. */
export function dataTable({ label, columns, rows, isWide = columns.length > 3 }: {
  /** What the table holds, for those who do not see where it stands. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** It may be wider than a phone: then its box can be reached with the keyboard. */
  readonly isWide?: boolean | undefined;
}): Markup {
  const kind = (column: number): Markup | false => columns[column]?.isText === true && markup` class="text${columns[column].isLong === true && ' long'}"`;
  return markup`<div class="wide"${isWide && markup` role="region" tabindex="0" aria-label="${label}"`}><table aria-label="${label}"><thead><tr>${columns.map(({ name }, i) => markup`<th scope="col"${kind(i)}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(([head, ...cells]) => markup`<tr><th scope="row"${kind(0)}>${head}</th>${cells.map((cell, i) => markup`<td${kind(i + 1)}>${cell}</td>`)}</tr>
`)}</tbody></table></div>`;
}

/** Returns words none of which is broken, such as a date and a time of day. */
export function wholeWords(text: string): Markup {
  return markup`${text.split(' ').map((word, i) => markup`${i > 0 && ' '}<span class="whole">${word}</span>`)}`;
}

/** Returns a name from outside that keeps its direction of writing to itself. */
export function nameText(name: string): Markup {
  return markup`<bdi>${name}</bdi>`;
}
