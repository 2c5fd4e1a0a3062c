import { styleText } from 'node:util';
import { outputColumns, widthOf, wordsWrapped } from './terminal.ts';
import { assert } from '../../core/assert.ts';
import { printable } from '../../core/text.ts';

interface TableOptions {
  /** The right-aligned columns: numbers. */
  readonly right?: readonly number[];
  readonly colour?: boolean;
  /** The columns that a narrow terminal omits, in this order. */
  readonly optional?: readonly number[];
  /** The columns that a narrow terminal shows on their own line under each row. */
  readonly below?: readonly number[];
  /** The width; by default that of the terminal. */
  readonly columns?: number | undefined;
}

const INDENT = 2;
const GAP = 2;

/**
 * Returns rows in aligned columns; the first row is the heading. In a narrow terminal, columns of `below` move under
 * their row, optional columns are omitted, then cells are wrapped between words, and at last each row becomes a list
 * with one cell a line. Control characters are escaped.
 */
export function table(
  cells: readonly (readonly string[])[],
  { right = [], colour = false, optional = [], below = [], columns = outputColumns() }: TableOptions = {},
): string {
  const rows = cells.map((row) => row.map(harmless));
  const [heading] = rows;
  assert(heading, 'a table has a heading');
  const measuredAll = heading.map((_, column) => measured(rows, column, right.includes(column)));
  const without = (left: readonly number[]): Column[] => measuredAll.filter(({ index }) => !left.includes(index));
  const whole = fitted(measuredAll, columns, 'natural');
  if (whole !== undefined) return aligned(rows, { columns: measuredAll, widths: whole, below: [], colour });
  // Each step omits one more optional column; the last step also wraps cells.
  for (let left = 0; left <= optional.length; left++) {
    const missing = optional.slice(0, left);
    const shown = without([...below, ...missing]);
    const widths = fitted(shown, columns, left === optional.length ? 'least' : 'natural');
    if (widths !== undefined && isReadable(rows, shown, widths))
      return aligned(rows, { columns: shown, widths, below, colour })
        + leftOutText(missing.map((column) => heading[column]!), columns);
  }
  return upright(rows, columns);
}

/** A column with its natural width, and the width below which a word would be broken. */
interface Column {
  readonly index: number;
  readonly isRight: boolean;
  readonly natural: number;
  readonly least: number;
}

function measured(rows: readonly (readonly string[])[], index: number, isRight: boolean): Column {
  const [heading = '', ...texts] = rows.map((row) => row[index] ?? '');
  return {
    index, isRight,
    natural: Math.max(widthOf(heading), ...texts.map(widthOf)),
    // A number with its unit stays on one line.
    least: Math.max(longestWord(heading), ...texts.map(isRight ? widthOf : longestWord)),
  };
}

function longestWord(text: string): number {
  return Math.max(0, ...text.split(' ').map(widthOf));
}

/**
 * Returns the width of each column, undefined when they do not fit. The widest are narrowed first, none below its
 * longest word.
 */
function fitted(
  columns: readonly Column[], available: number | undefined, atLeast: 'natural' | 'least',
): number[] | undefined {
  const widths = columns.map(({ natural }) => natural);
  let excess = INDENT + sum(widths) + GAP * (columns.length - 1) - (available ?? Number.POSITIVE_INFINITY);
  if (excess <= 0) return widths;
  if (atLeast === 'natural' || sum(columns.map(({ natural, least }) => natural - least)) < excess) return undefined;
  for (; excess > 0; excess--) {
    const widest = widths.reduce(
      (best, width, at) => (width > columns[at]!.least && (best === -1 || width > widths[best]!) ? at : best), -1,
    );
    widths[widest]! -= 1;
  }
  return widths;
}

/** A row wrapped into more lines is harder to read than a list. */
const LINES_MOST = 3;

function isReadable(
  [, ...rows]: readonly (readonly string[])[], columns: readonly Column[], widths: readonly number[],
): boolean {
  return rows.every((row) =>
    columns.every(({ index }, at) => wordsWrapped(row[index] ?? '', widths[at]!).length <= LINES_MOST));
}

interface Layout {
  readonly columns: readonly Column[];
  readonly widths: readonly number[];
  readonly below: readonly number[];
  readonly colour: boolean;
}

function aligned(rows: readonly (readonly string[])[], { columns, widths, below, colour }: Layout): string {
  return rows.flatMap((row, index) => {
    const wrapped = columns.map((column, at) => wordsWrapped(row[column.index] ?? '', widths[at]!));
    const height = Math.max(1, ...wrapped.map((lines) => lines.length));
    const lines = Array.from({ length: height }, (_, line) => columns.map(({ isRight }, at) => {
      const cell = wrapped[at]![line] ?? '';
      const blanks = ' '.repeat(Math.max(0, widths[at]! - widthOf(cell)));
      return isRight ? blanks + cell : cell + blanks;
    }).join(' '.repeat(GAP)));
    const further = below.map((column) => ' '.repeat(GAP) + (row[column] ?? '')).filter((text) => text.trim() !== '');
    return [...lines, ...further].map((line) => {
      const text = `${' '.repeat(INDENT)}${line}`.trimEnd();
      return `${index === 0 && colour ? styleText('bold', text, { validateStream: false }) : text}\n`;
    });
  }).join('');
}

function leftOutText(missing: readonly string[], columns: number | undefined): string {
  const names = missing.filter((name) => name !== '').join(', ');
  return names === '' ? ''
    : wordsWrapped(`(a wider terminal also shows ${names})`, (columns ?? Number.POSITIVE_INFINITY) - INDENT)
      .map((line) => `${' '.repeat(INDENT)}${line}\n`).join('');
}

/** Returns each row as a list with one cell a line. */
function upright([heading = [], ...rows]: readonly (readonly string[])[], columns: number | undefined): string {
  return rows.map((row) => facts(
    heading.map((name, column) => [name, row[column] === '' ? undefined : row[column]] as const), columns,
  )).join('\n');
}

/** A name with its value, or several lines of it. */
export type Fact = readonly [name: string, value: string | readonly string[] | undefined];

/** The least width of a value beside its name; with less room it stands below the name. */
const VALUE_LEAST = 24;

/**
 * Returns the facts about one thing, a name and a value a line, the names in one column. A value of several lines
 * continues below its first line; a value that is too long for the terminal is wrapped between words. Control
 * characters are escaped.
 */
export function facts(rows: readonly Fact[], columns: number | undefined = outputColumns()): string {
  const known = rows.filter(([, value]) =>
    value !== undefined && value.length > 0) as readonly (readonly [string, string | readonly string[]])[];
  const width = Math.max(0, ...known.map(([name]) => widthOf(name)));
  const indent = INDENT + width + GAP;
  const available = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(VALUE_LEAST, columns - indent);
  const lines = known.flatMap(([name, value]) =>
    [value].flat().flatMap((line) => wordsWrapped(harmless(line), available)).flatMap((line, index) => {
      const named =
        `${' '.repeat(INDENT)}${index === 0 ? name + ' '.repeat(width - widthOf(name)) : ' '.repeat(width)}`;
      if (columns === undefined || widthOf(line) <= available) return [`${named}${' '.repeat(GAP)}${line}`];
      // A longer word, such as a hash, starts further left.
      return [...(index === 0 ? [named] : []), ' '.repeat(Math.max(INDENT + GAP, columns - widthOf(line))) + line];
    }));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** Escapes control characters; callers limit the length of a cell themselves. */
function harmless(cell: string): string {
  return printable(cell, Number.POSITIVE_INFINITY);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
