import { readFileSync } from 'node:fs';
import type { Data, Table, Vector } from 'apache-arrow';
import { DataType, tableFromIPC } from 'apache-arrow';
import type { ParquetParsers } from 'hyparquet';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { readParquet } from 'parquet-wasm';

/** A row of a Parquet file: integers are bigint, times are numbers of milliseconds. */
export type ParquetRow = Readonly<Record<string, bigint | number | string | null>>;

/** Returns the rows of a file as the Rust reader sees them. */
export function rowsByRust(path: string): ParquetRow[] {
  const table = tableOf(path);
  const columns = table.schema.fields.map(({ name }) => [name, valuesOf(table.getChild(name)!)] as const);
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(columns.map(([name, values]) => [name, values[row]!])));
}

/** Returns the integers of one column as the Rust reader sees them. */
export function integersByRust(path: string, column: string): bigint[] {
  return [...tableOf(path, [column]).getChild(column)!.toArray() as Iterable<bigint>];
}

/** Returns the columns of a file with their Arrow types, in the words of the Rust reader. */
export function typesByRust(path: string): Record<string, string> {
  const { fields } = tableOf(path).schema;
  return Object.fromEntries(fields.map(({ name, type, nullable }) => [name, `${String(type)}${nullable ? '?' : ''}`]));
}

/** Returns the rows of a file as the JavaScript reader sees them. */
export async function rowsByJavaScript(path: string): Promise<ParquetRow[]> {
  const rows = await parquetReadObjects({ file: bytesOf(path), parsers: PARSERS });
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) =>
    [name, value instanceof Date ? value.getTime() : (value ?? null) as ParquetRow[string]])));
}

/** Returns what a file says of itself, and how many rows its groups have. */
export function aboutFile(path: string): {
  readonly metadata: Readonly<Record<string, string | undefined>>; readonly groups: readonly number[];
  readonly codecs: readonly string[]; readonly encodings: readonly string[];
} {
  const { key_value_metadata: pairs = [], row_groups: groups } = parquetMetadata(bytesOf(path));
  const chunks = groups.flatMap(({ columns }) => columns.map(({ meta_data: meta }) => meta!));
  return {
    metadata: Object.fromEntries(pairs.map(({ key, value }) => [key, value])),
    groups: groups.map(({ num_rows: rows }) => Number(rows)),
    codecs: [...new Set(chunks.map(({ codec }) => codec))],
    encodings: [...new Set(chunks.flatMap(({ encodings }) => encodings))].toSorted(),
  };
}

/** The reader's own decoder of texts drops a leading U+FEFF. */
const PARSERS = { stringFromBytes: (bytes: Uint8Array | undefined) =>
  (bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')) } as ParquetParsers;

function tableOf(path: string, columns?: string[]): Table {
  return tableFromIPC(readParquet(readFileSync(path), columns === undefined ? {} : { columns }).intoIPCStream());
}

function bytesOf(path: string): ArrayBuffer {
  return new Uint8Array(readFileSync(path)).buffer;
}

function valuesOf(column: Vector): readonly ParquetRow[string][] {
  if (DataType.isUtf8(column.type)) return column.data.flatMap(textsOf);
  return Array.from({ length: column.length }, (_, row) => column.get(row) as ParquetRow[string]);
}

/** Arrow's decoder drops it too. */
function textsOf(data: Data): (string | null)[] {
  const offsets = data.valueOffsets as unknown as Int32Array;
  const bytes = Buffer.from(data.values as unknown as Uint8Array);
  return Array.from({ length: data.length }, (_, row) =>
    (data.getValid(row) ? bytes.toString('utf8', offsets[row], offsets[row + 1]) : null));
}
