import { stripVTControlCharacters } from 'node:util';

// What takes two cells in a terminal; the names of tokens are full of it.
const WIDE = /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uff01-\uff60\uffe0-\uffe6]/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const FEWEST_COLUMNS = 40;

/** Returns how many cells of a terminal a text takes. */
export function widthOf(text: string): number {
  // Every byte of plain text is a cell; the rest is rare, and worth the time.
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Returns how many columns the output has: COLUMNS where it is set, else the terminal's; undefined in a pipe or a file, whose lines may be of any length. */
export function outputColumns(): number | undefined {
  const stated = Number(process.env['COLUMNS']);
  const columns = Number.isInteger(stated) && stated > 0 ? stated : process.stdout.isTTY ? process.stdout.columns : undefined;
  return columns === undefined || columns <= 0 ? undefined : Math.max(FEWEST_COLUMNS, columns);
}

/** Returns a text in lines of at most so many cells, broken at blanks alone: a longer word has a line of its own. */
export function wordsWrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const [, blanks = '', word = ''] of text.matchAll(/( *)([^ ]+)/g)) {
    const cells = widthOf(word);
    if (used > 0 && used + blanks.length + cells > width) {
      lines.push(line);
      [line, used] = [word, cells];
    } else {
      line += blanks + word;
      used += blanks.length + cells;
    }
  }
  return [...lines, line];
}

/** A name at the beginning of a line, with the blanks after it: what is wrapped goes on under what follows. */
const NAMED = /^( *\S.*? {2,})(?=\S)/;
const NAME_WIDEST = 32;

/** Returns text for people with lines of at most so many cells, broken at blanks; each goes on under its own beginning. */
export function linesWrapped(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text.split('\n').map((line) => lineWrapped(line, columns)).join('\n');
}

function lineWrapped(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const plain = stripVTControlCharacters(line);
  const indent = Math.min(hangOf(plain), Math.floor(columns / 2));
  const [first = '', ...rest] = wordsWrapped(line, columns);
  if (rest.length === 0) return first;
  // What follows the first line has less room; one word that is longer, such as a hash, begins further to the left.
  const further = wordsWrapped(line.slice(first.length).trimStart(), columns - indent);
  return [first.trimEnd(), ...further.map((part) => ' '.repeat(Math.max(0, Math.min(indent, columns - widthOf(part)))) + part)].join('\n');
}

/** Where the text of a line begins: behind its blanks, or behind the last short name that stands before it. */
function hangOf(plain: string): number {
  let hang = /^ */.exec(plain)![0].length;
  for (;;) {
    const named = NAMED.exec(plain.slice(hang));
    if (named === null || hang + widthOf(named[1]!) > NAME_WIDEST) return hang;
    hang += widthOf(named[1]!);
  }
}
