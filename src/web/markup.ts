import { printable } from '../core/text.ts';

/** A fragment of HTML in which everything is escaped. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | null | undefined | false | readonly Part[];

/** Returns HTML from a template. Inserted values are text and are escaped, unless they are markup. */
export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: template.map((text, i) => text + (i < parts.length ? textOf(parts[i]) : '')).join('') };
}

/** Returns text of the project itself as HTML. It may not contain untrusted text. */
export function trusted(text: string): Markup {
  return { markup: text };
}

const ENTITIES: Readonly<Record<string, string>> =
  { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(textOf).join('');
  return printable(String(part), Infinity).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** The content of a table cell: text, which is escaped, or markup. */
export type Cell = string | number | Markup;

/** A column of a table. */
interface Column {
  readonly name: string | Markup;
  /** Text is aligned left and may wrap; numbers are aligned right and may not. */
  readonly isText?: boolean | undefined;
  /** The cells contain sentences, and are wide even on a narrow page. */
  readonly isLong?: boolean | undefined;
}

/** Returns a column of row names and columns of numbers. */
export function columnsOf(first: string, ...others: readonly string[]): Column[] {
  return [{ name: first, isText: true }, ...others.map((name) => ({ name }))];
}

/** Returns a table in a box that scrolls sideways on a narrow page. The first cell of each row names the row. */
export function dataTable({ label, columns, rows, isWide = columns.length > 3 }: {
  /** The content of the table, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** The table may be wider than a phone, so its box can be focused with the keyboard. */
  readonly isWide?: boolean | undefined;
}): Markup {
  const kind = (column: number): Markup | false =>
    columns[column]?.isText === true && markup` class="text${columns[column].isLong === true && ' long'}"`;
  const region = isWide && markup` role="region" tabindex="0" aria-label="${label}"`;
  const header = columns.map(({ name }, i) => markup`<th scope="col"${kind(i)}>${name}</th>`);
  const body = rows.map(([head, ...cells]) => markup`<tr><th scope="row"${kind(0)}>${head}</th>${
    cells.map((cell, i) => markup`<td${kind(i + 1)}>${cell}</td>`)}</tr>
`);
  return markup`<div class="wide"${region}><table aria-label="${label}"><thead><tr>${header}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}

/** A name and its value, in one line or several; untrusted text. */
export type NamedText = readonly [name: string, text: string | readonly string[]];

/** Returns a table of names and their values. */
export function namedTable(label: string, rows: readonly NamedText[]): Markup {
  return dataTable({
    label, columns: [{ name: 'name', isText: true }, { name: 'value', isText: true }], isWide: true,
    rows: rows.map(([name, text]) => [nameText(name), markup`<code>${linesOf(text)}</code>`]),
  });
}

function linesOf(text: string | readonly string[]): Markup[] {
  return (typeof text === 'string' ? [text] : text).map((line, i) => markup`${i > 0 && markup`<br>`}${line}`);
}

/** Returns a paragraph that explains what is beside it. */
export function note(text: string | Markup): Markup {
  return markup`<p class="note">${text}</p>`;
}

/** Returns words that do not wrap within themselves, such as a date and a time of day. */
export function wholeWords(text: string): Markup {
  return markup`${text.split(' ').map((word, i) => markup`${i > 0 && ' '}<span class="whole">${word}</span>`)}`;
}

/** Returns an untrusted name whose direction of writing does not affect the text around it. */
export function nameText(name: string): Markup {
  return markup`<bdi>${name}</bdi>`;
}
