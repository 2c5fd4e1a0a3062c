import { stripVTControlCharacters, styleText } from 'node:util';
import { assert } from '../core/assert.ts';
import { printable } from '../core/text.ts';

/** Returns rows in aligned columns, numbers to the right; the first row is the heading. What could fool a terminal is escaped. */
export function table(cells: readonly (readonly string[])[], options: { readonly right?: readonly number[]; readonly colour?: boolean } = {}): string {
  const rows = cells.map((row) => row.map(harmless));
  const [heading] = rows;
  assert(heading, 'a table has a heading');
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  return rows.map((row, index) => {
    const padded = row.map((cell, column) => {
      const blanks = ' '.repeat(widths[column]! - widthOf(cell));
      return options.right?.includes(column) ? blanks + cell : cell + blanks;
    });
    const text = `  ${padded.join('  ').trimEnd()}`;
    return `${index === 0 && options.colour ? styleText('bold', text, { validateStream: false }) : text}\n`;
  }).join('');
}

/** A name and what is to be said under it. */
export type Fact = readonly [name: string, value: string | readonly string[] | undefined];

/** Returns what belongs to one thing, a name and a value a line, the names in one column. A value of several lines goes on under the first. What could fool a terminal is escaped. */
export function facts(rows: readonly Fact[]): string {
  const known = rows.filter(([, value]) => value !== undefined && value.length > 0) as readonly (readonly [string, string | readonly string[]])[];
  const width = Math.max(0, ...known.map(([name]) => widthOf(name)));
  return known.flatMap(([name, value]) => [value].flat().map((line, index) =>
    `  ${(index === 0 ? name : '').padEnd(width)}  ${harmless(line)}`.trimEnd())).map((line) => `${line}\n`).join('');
}

/** Whoever fills a cell cuts it to its size; nobody may forget the rest. */
function harmless(cell: string): string {
  return printable(cell, Number.POSITIVE_INFINITY);
}

// What takes two cells in a terminal; the names of tokens are full of it.
const WIDE = /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uff01-\uff60\uffe0-\uffe6]/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns how many cells of a terminal a text takes. */
export function widthOf(text: string): number {
  // Every byte of plain text is a cell; the rest is rare, and worth the time.
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
