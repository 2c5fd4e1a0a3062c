import { printable } from '../core/text.ts';

/** A piece of a page in which nothing is left to be escaped. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | null | undefined | false | readonly Part[];

/**
 * Returns a piece of a page from a template. Whatever is put into it is text, and escaped, unless it is a piece itself.
 */
export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: template.map((text, i) => text + (i < parts.length ? textOf(parts[i]) : '')).join('') };
}

/** Returns what the project itself has put together as a piece of a page. Nothing from outside may be in it. */
export function trusted(text: string): Markup {
  return { markup: text };
}

/**
 * Returns data as JSON that no page mistakes for its own: the same document, without a character that could end an
 * element.
 */
export function jsonInPage(value: unknown): Markup {
  return { markup: JSON.stringify(value)
    .replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) };
}

const ENTITIES: Readonly<Record<string, string>> =
  { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(textOf).join('');
  return printable(String(part), Infinity).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

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

/**
 * Returns a table in a box of its own, in which it can be moved sideways where the page is too narrow for it. The first
 * cell of each row names the row.
 */
export function dataTable({ label, columns, rows, isWide = columns.length > 3 }: {
  /** What the table holds, for those who do not see where it stands. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** It may be wider than a phone: then its box can be reached with the keyboard. */
  readonly isWide?: boolean | undefined;
}): Markup {
  const kind = (column: number): Markup | false =>
    columns[column]?.isText === true && markup` class="text${columns[column].isLong === true && ' long'}"`;
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
