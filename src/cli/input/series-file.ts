import { medianOf } from '../../core/median.ts';
import { nearest, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { CsvRow } from '../../recording/import/csv.ts';
import { csvError, csvRows, readNumberCell, readTimeCell } from '../../recording/import/csv.ts';
import { shareText } from '../../research/metrics/figure-text.ts';
import type { MeasuredSeries } from '../../research/metrics/measured-path.ts';
import type { MetricWarning } from '../../research/metrics/metric-warnings.ts';

const COLUMNS = ['time', 'equity', 'return'] as const;
type Column = (typeof COLUMNS)[number];

const EXPECTED = 'expected a header "time,equity" or "return" (with "time" if you like), or candles: "Date,Close" with '
  + 'or without Open, High, Low, Volume';

/** The names of the time column in price tables such as yfinance's and Freqtrade's. */
const TIMES: ReadonlySet<string> = new Set(['time', 'date', 'datetime', 'timestamp']);
/**
 * The columns that stand for equity, best first: prices adjusted for splits and dividends give the value of holding.
 */
const PRICES = ['equity', 'adj close', 'close'] as const;
/** Other columns of such tables, which are ignored. */
const BESIDE: ReadonlySet<string> =
  new Set(['open', 'high', 'low', 'close', 'adj close', 'volume', 'dividends', 'stock splits', 'capital gains']);

/** The rounding error of a total loss that another program computed. */
const ROUNDING = 1e-9;
/** A median return above this, up or down, is probably in percent. */
const LARGE_RETURN = 0.25;
const PERCENT_HINT = 'if these are percent, divide them by 100 (1 % is 0.01)';

interface SeriesRows {
  readonly times: Millis[];
  readonly numbers: number[];
  /** Whether a return was a total loss. */
  isLost: boolean;
}

/**
 * Reads a series from a CSV file or a pipe ("-"): equity over time, or returns as fractions. Throws CSV_INVALID with
 * the file and row of the fault, impossible returns included, USAGE where it cannot be read, INTERRUPTED.
 */
export async function readSeries(file: string, { periodsPerYear, interrupt }: {
  readonly periodsPerYear: number | undefined; readonly interrupt: AbortSignal;
}): Promise<MeasuredSeries> {
  let columns: readonly (Column | undefined)[] | undefined;
  let row = 0;
  const rows: SeriesRows = { times: [], numbers: [], isLost: false };
  const { times, numbers } = rows;
  for await (const csvRow of csvRows(file, interrupt)) {
    ({ row } = csvRow);
    if (columns === undefined) columns = columnsOf(csvRow);
    else readRow(csvRow, columns, rows);
  }
  if (columns === undefined) throw csvError({ file, row: 1 }, `${EXPECTED}, got an empty file`);
  if (numbers.length === 0) throw csvError({ file, row }, 'expected rows after the header, got none');
  return columns.includes('equity')
    ? { kind: 'equity', times, values: numbers, periodsPerYear, ownCadence: true }
    : { kind: 'returns', returns: numbers, periodsPerYear, times: columns.includes('time') ? times : undefined };
}

/** Returns a warning when returns are so large that they are probably in percent, else undefined. */
export function unitWarning(series: MeasuredSeries): MetricWarning | undefined {
  if (series.kind === 'equity') return undefined;
  const usual = medianOf(series.returns.filter((value) => value !== 0).map(Math.abs));
  if (usual === null || usual < LARGE_RETURN) return undefined;
  return {
    code: 'likely_percent',
    message: `the returns are large, a median of ${shareText(usual)} up or down per period: ${PERCENT_HINT}`,
    figures: ['total_return'],
  };
}

/** Returns the meaning of each column; undefined for an ignored one. */
function columnsOf(row: CsvRow): readonly (Column | undefined)[] {
  const names = row.cells.map((cell) => cell.toLowerCase());
  if (names.some((name) => /^[+-]?\.?\d/.test(name))) throw csvError(row, `${EXPECTED}, got a row of data`);
  for (const [place, name] of names.entries()) {
    if (!isColumn(name) && !TIMES.has(name) && !BESIDE.has(name))
      throw csvError({ ...row, column: printable(name, 40) }, unknownColumn(name));
    if (names.indexOf(name) !== place) throw csvError({ ...row, column: name }, `the column "${name}" appears twice`);
  }
  const price = names.includes('return') ? 'equity' : PRICES.find((name) => names.includes(name));
  const columns = names.map((name): Column | undefined =>
    (TIMES.has(name) ? 'time' : name === price ? 'equity' : name === 'equity' || name === 'return' ? name : undefined));
  if (columns.indexOf('time') !== columns.lastIndexOf('time'))
    throw csvError(row, `${EXPECTED}, got two columns of times`);
  if (columns.includes('equity') === columns.includes('return')) throw csvError(
    row, `${EXPECTED}, got ${columns.includes('equity') ? 'both equity and return' : 'neither equity nor return'}`,
  );
  if (columns.includes('equity') && !columns.includes('time'))
    throw csvError(row, `${EXPECTED}: equity needs the time of each value`);
  return columns;
}

function isColumn(name: string): name is Column {
  return (COLUMNS as readonly string[]).includes(name);
}

function unknownColumn(name: string): string {
  const close = nearest(name, COLUMNS);
  const hint = /[;\t|]/.test(name) ? '; cells are separated by commas' : close === undefined ? ''
    : `; did you mean "${close}"?`;
  return `${EXPECTED}, got a column ${JSON.stringify(printable(name, 40))}${hint}`;
}

function readRow(row: CsvRow, columns: readonly (Column | undefined)[], into: SeriesRows): void {
  if (row.cells.length !== columns.length)
    throw csvError(row, `expected ${columns.length} cells as in the header, got ${row.cells.length}`);
  for (const [place, column] of columns.entries()) {
    const text = row.cells[place]!;
    if (column === undefined) continue;
    if (column === 'time') into.times.push(timeAfter(text, row, into.times));
    else into.numbers.push(column === 'return' ? returnOf(text, row, into) : readNumberCell(text, { ...row, column }));
  }
}

/** Reads a return. A series of returns cannot go below zero; only an equity series can show debt. */
function returnOf(text: string, row: CsvRow, into: SeriesRows): number {
  const place = { file: row.file, row: row.row, column: 'return' };
  const value = readNumberCell(text, place);
  const got = `got ${printable(text, 40)}, which is ${shareText(value)}`;
  if (value < -1 - ROUNDING) throw csvError(place, 'expected a return of -1 or more, because a loss cannot '
    + `exceed everything, ${got}: ${PERCENT_HINT}, and write a series that goes into debt as time,equity`);
  if (into.isLost && value !== 0)
    throw csvError(place, `expected no return after one of -1, a total loss, ${got}: ${PERCENT_HINT}`);
  into.isLost ||= value <= -1 + ROUNDING;
  return Math.max(-1, value);
}

function timeAfter(text: string, row: CsvRow, times: readonly Millis[]): Millis {
  const place = { file: row.file, row: row.row, column: 'time' };
  const at = readTimeCell(text, place, times.length === 0);
  const before = times.at(-1);
  if (before === undefined || at > before) return at;
  throw csvError(place, at === before ? `the time ${printable(text, 40)} appears twice`
    : `time goes backwards: ${printable(text, 40)} is before the row above (${new Date(before).toISOString()})`);
}
