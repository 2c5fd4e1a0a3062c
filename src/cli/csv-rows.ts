import { addAbortSignal } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { openInput, unreadable } from './input/files.ts';
import { interruption } from '../recording/interrupt.ts';

/** Longer than any row of numbers: without line ends, a file would be read whole before anybody looks at it. */
const LONGEST_LINE = 65_536;

/** Where in a file something stands. */
export interface CsvPlace {
  readonly file: string;
  /** The line, from 1. */
  readonly row: number;
  readonly column?: string | undefined;
}

export interface CsvRow extends CsvPlace {
  readonly cells: readonly string[];
}

/** Returns the error for something wrong in a file, which its message begins with: `file:row: …`. */
export function csvError({ file, row, column }: CsvPlace, message: string): GannetError {
  return new GannetError('CSV_INVALID', `${printable(file)}:${row}: ${message}`, {
    details: { file, row, ...(column === undefined ? {} : { column }) },
  });
}

/**
 * Yields the lines of a file or a pipe ("-": standard input) as cells, trimmed and out of their quotes, as they come: a
 * file may be larger than memory. Empty lines are left out. Throws USAGE where it cannot be read, CSV_INVALID at a line
 * that is no row, INTERRUPTED.
 */
export async function* csvRows(file: string, interrupt: AbortSignal): AsyncGenerator<CsvRow> {
  let row = 0;
  for await (const line of linesOf(file, interrupt)) {
    row += 1;
    // Some programs begin a file with a mark of its encoding.
    const text = row === 1 ? line.replace(/^\ufeff/, '') : line;
    if (text.trim() !== '') yield { file, row, cells: cellsOf({ file, row }, text) };
  }
}

async function* linesOf(file: string, interrupt: AbortSignal): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let row = 1;
  for await (const chunk of chunksOf(file, interrupt)) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop()!;
    row += lines.length;
    yield* lines;
    if (rest.length > LONGEST_LINE)
      throw csvError({ file, row }, `expected a line of at most ${LONGEST_LINE} characters; is this a CSV file?`);
  }
  yield rest + decoder.end();
}

async function* chunksOf(file: string, interrupt: AbortSignal): AsyncGenerator<Buffer> {
  const fault = (cause: unknown): GannetError =>
    (interrupt.aborted ? interruption(cause) : cause instanceof GannetError ? cause : unreadable(file, cause));
  let chunks: AsyncIterator<Buffer>;
  try {
    chunks = (addAbortSignal(interrupt, openInput(file)) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  } catch (cause) {
    throw fault(cause);
  }
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((cause: unknown) => { throw fault(cause); });
      if (done === true) return;
      yield value;
    }
  } finally {
    await chunks.return?.();
  }
}

function cellsOf(place: CsvPlace, line: string): string[] {
  const cells: string[] = [];
  for (const cell of line.split(',')) {
    const text = cell.trim();
    if (!text.includes('"')) cells.push(text);
    else if (/^"[^"]*"$/.test(text)) cells.push(text.slice(1, -1).trim());
    else throw csvError(place, `expected numbers and times, got ${JSON.stringify(printable(text, 40))}: quotes within `
      + 'a cell, or a comma within quotes');
  }
  return cells;
}
