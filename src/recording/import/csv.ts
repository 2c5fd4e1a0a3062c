import { CsvError, parse } from 'csv-parse';
import { addAbortSignal, pipeline } from 'node:stream';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { interruption } from '../interrupt.ts';
import { openInput, unreadable } from './input-file.ts';

/** The most characters of a row. A file without line ends would otherwise be read into memory whole. */
const MAX_ROW_CHARACTERS = 65_536;

/** A place in a file. */
export interface CsvPlace {
  readonly file: string;
  /** The line, from 1. */
  readonly row: number;
  readonly column?: string | undefined;
}

export interface CsvRow extends CsvPlace {
  readonly cells: readonly string[];
}

/** Returns the error for a place in a file, with a message that starts with `file:row: …`. */
export function csvError({ file, row, column }: CsvPlace, message: string): GannetError {
  return new GannetError('CSV_INVALID', `${printable(file)}:${row}: ${message}`, {
    details: { file, row, ...(column === undefined ? {} : { column }) },
  });
}

/**
 * Yields the rows of a file or a pipe ("-": standard input) as trimmed cells, as they arrive: a file may be larger than
 * memory. Empty lines are left out. Throws USAGE for an unreadable file, CSV_INVALID for a malformed row, and
 * INTERRUPTED.
 */
export async function* csvRows(file: string, interrupt: AbortSignal): AsyncGenerator<CsvRow> {
  const rows = parse({
    bom: true, info: true, max_record_size: MAX_ROW_CHARACTERS, record_delimiter: ['\r\n', '\n'],
    relax_column_count: true, skip_empty_lines: true, trim: true,
  });
  // The parser passes on the errors of its input, and closing it closes the input.
  pipeline(chunksOf(file, interrupt), rows, () => undefined);
  let row = 0;
  try {
    for await (const { record, info } of rows as AsyncIterable<ParsedRow>) {
      row = info.lines;
      yield { file, row, cells: record.map((cell) => cell.trim()) };
    }
  } catch (cause) {
    throw cause instanceof CsvError ? malformed(file, row, cause) : cause;
  }
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function malformed(file: string, rowBefore: number, { code, message, lines }: CsvError): GannetError {
  // For a quote that is left open the parser names the line where it gave up, not the row of the quote.
  const open = { file, row: rowBefore + 1 };
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return csvError(open, 'expected quotes around a whole cell, got one without a closing quote');
  if (code === 'CSV_MAX_RECORD_SIZE') {
    const hint = Number(lines) > rowBefore + 1 ? 'is a closing quote missing?' : 'is this a CSV file?';
    return csvError(open, `expected a row of at most ${MAX_ROW_CHARACTERS} characters; ${hint}`);
  }
  return csvError(
    { file, row: Number(lines) },
    `expected quotes around a whole cell, got quotes within a cell (${printable(message, 160)})`,
  );
}

async function* chunksOf(file: string, interrupt: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* addAbortSignal(interrupt, openInput(file)) as AsyncIterable<Buffer>;
  } catch (cause) {
    if (interrupt.aborted) throw interruption(cause);
    throw cause instanceof GannetError ? cause : unreadable(file, cause);
  }
}

/** Unix times from here on are milliseconds: as seconds this is the year 5138, as milliseconds 1973. */
const MILLISECONDS_FROM = 1e11;
const LATEST: Millis = 8.64e15;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)? ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;
/** A year or a day as a number, which as seconds would be in 1970. */
const BARE_DATE = /^(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01]))?$/;

/** Returns the number in a cell. Throws CSV_INVALID where it is missing or not finite. */
export function readNumberCell(text: string, place: CsvPlace): number {
  if (text === '') throw csvError(place, `expected a number for ${place.column}, got nothing`);
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  const hint = text.endsWith('%') ? '; 1 % is 0.01' : /^-?\d+;/.test(text) ? '; cells are separated by commas' : '';
  throw csvError(place, `expected a finite number for ${place.column}, got ${shown(text)}${hint}`);
}

/**
 * Returns the moment in a cell: ISO 8601 (without a zone: UTC), or Unix seconds or milliseconds by their size. Throws
 * CSV_INVALID; in the first row also on a bare year or day.
 */
export function readTimeCell(text: string, place: CsvPlace, first: boolean): Millis {
  const at = NUMBER.test(text) ? unixTime(text, place, first) : isoTime(text);
  if (at !== undefined && Math.abs(at) <= LATEST) return at;
  throw csvError(
    place, `expected a time in ISO 8601, Unix seconds or milliseconds, got ${text === '' ? 'nothing' : shown(text)}`,
  );
}

function unixTime(text: string, place: CsvPlace, first: boolean): Millis {
  if (first && BARE_DATE.test(text))
    throw csvError(place,
      `expected a time in ISO 8601, Unix seconds or milliseconds; ${text} is probably a date, write `
        + `it as ${text.slice(0, 4)}-${text.slice(4, 6) || '01'}-${text.slice(6) || '01'}`);
  const value = Number(text);
  return Math.abs(value) >= MILLISECONDS_FROM ? value : Math.round(value * 1_000);
}

function isoTime(text: string): Millis | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = ISO.exec(text)
    ?? [];
  if (year === undefined) return undefined;
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // Date carries an excess over to the next unit: the 30th of February becomes a day of March.
  if (new Date(local).toISOString().slice(0, 19) !== `${year}-${month}-${day}T${hour}:${minute}:${second}`)
    return undefined;
  const offset = offsetOf(zone);
  return offset === undefined ? undefined : local + Number(fraction.padEnd(3, '0').slice(0, 3)) - offset;
}

function offsetOf(zone: string): Millis | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function shown(text: string): string {
  return JSON.stringify(printable(text, 40));
}
