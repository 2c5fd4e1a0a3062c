import type { DecodedArray, Encoding, RowGroup } from 'hyparquet';
import type { ColumnSource, KeyValue, SchemaElement } from 'hyparquet-writer';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { UnfinishedFile } from './unfinished-file.ts';
import { assertNever } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';

/** Values in a row group, which is what is held in memory: 75,000 quotes, or 15,000 statistics. */
const GROUP_VALUES = 1 << 20;
/** Behind the four letters that a Parquet file begins with. */
const PAGES_START = 4n;

/** Parquet's bytes on their way to a file. */
class FileBytes extends ByteWriter {
  readonly #file: UnfinishedFile;

  constructor(file: UnfinishedFile) {
    super();
    this.#file = file;
  }

  flush(): void {
    this.#file.write(this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

/**
 * A Parquet file in the making, under another name until it is published. Only a row group is in memory.
 * Throws what an unfinished file throws.
 */
export class ParquetFile<Row> {
  rows = 0;
  readonly #columns: readonly ColumnValues<Row>[];
  readonly #groupRows: number;
  readonly #file: UnfinishedFile;
  readonly #bytes: FileBytes;
  readonly #writer: ParquetWriter;
  #waiting = 0;

  constructor({ path, columns, metadata }: {
    readonly path: string; readonly columns: readonly ParquetColumn<Row>[]; readonly metadata: KeyValue[];
  }) {
    this.#groupRows = Math.floor(GROUP_VALUES / columns.length);
    this.#columns = columns.map((column) => columnValues(column, this.#groupRows));
    this.#file = new UnfinishedFile(path);
    this.#bytes = new FileBytes(this.#file);
    this.#writer = new ParquetWriter({
      writer: this.#bytes, schema: parquetSchema(columns), codec: 'SNAPPY', kvMetadata: metadata, createdBy: 'gannet',
    });
  }

  /** How many bytes are written. */
  get bytes(): number {
    return this.#bytes.offset;
  }

  /** Takes a row; returns whether a row group was written for it. */
  append(row: Row): boolean {
    for (const column of this.#columns) column.put(this.#waiting, row);
    this.#waiting += 1;
    this.rows += 1;
    if (this.#waiting < this.#groupRows) return false;
    this.#writeGroup();
    return true;
  }

  /** Writes what is left and the end, and waits for the disk to have all of it. */
  finish(): void {
    if (this.#waiting > 0) this.#writeGroup();
    // The encoder writes a list of nothing as one that strict readers refuse.
    if (this.rows === 0) this.#writer.row_groups.push(emptyGroup(this.#writer.schema));
    void this.#writer.finish();
    this.#file.finish();
  }

  /** Gives the file its name. */
  publish(): void {
    this.#file.publish();
  }

  /** Leaves nothing of a file that was not published. */
  discard(): void {
    this.#file.discard();
  }

  #writeGroup(): void {
    const rows = this.#waiting;
    this.#waiting = 0;
    const columnData = this.#columns.map((column) => column.source(rows));
    void this.#writer.write({ columnData, rowGroupSize: rows });
  }
}

function emptyGroup([, ...columns]: readonly SchemaElement[]): RowGroup {
  return {
    columns: columns.map(({ name, type }) => ({
      file_offset: PAGES_START,
      meta_data: {
        type: type!, encodings: ['PLAIN'], path_in_schema: [name], codec: 'SNAPPY',
        num_values: 0n, total_uncompressed_size: 0n, total_compressed_size: 0n, data_page_offset: PAGES_START,
      },
    })),
    num_rows: 0n, total_byte_size: 0n,
  };
}

/** What a column holds, by how it is stored. */
interface Stored {
  /** Amounts, slots and block heights: 0 to 2^64 - 1. */
  readonly unsigned: bigint;
  /** -2^63 to 2^63 - 1. */
  readonly signed: bigint;
  /** Milliseconds since 1970, UTC. */
  readonly time: Millis;
  readonly double: number;
  readonly text: string;
}
type StoredAs = keyof Stored;

/**
 * A column of a table: its name, how it is stored, and what of a row stands in it; `optional` ones may hold nothing.
 */
export type ParquetColumn<Row> = {
  readonly [S in StoredAs]: { readonly name: string; readonly as: S } & (
    | { readonly optional?: false; readonly of: (row: Row) => Stored[S] }
    | { readonly optional: true; readonly of: (row: Row) => Stored[S] | undefined }
  );
}[StoredAs];

/** The values of a column that wait to be written. */
export interface ColumnValues<Row> {
  put(index: number, row: Row): void;
  /** Returns the first `rows` values as the encoder takes them; they are valid until the next change. */
  source(rows: number): ColumnSource;
}

const ELEMENTS: { readonly [S in StoredAs]: Omit<SchemaElement, 'name'> } = {
  // Without the newer logical type, whose width the encoder writes in a size that strict readers refuse.
  unsigned: { type: 'INT64', converted_type: 'UINT_64' },
  signed: { type: 'INT64' },
  time: {
    type: 'INT64', converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  double: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
};

/**
 * Left to itself the encoder makes a dictionary where values repeat, and one of doubles would make 0 and -0 one.
 * Differences instead of values would be shorter, but some readers take them for something else and say nothing.
 */
const ENCODINGS: { readonly [S in StoredAs]?: Encoding } = { double: 'PLAIN' };

/** Returns the schema of a table with these columns. */
export function parquetSchema<Row>(columns: readonly ParquetColumn<Row>[]): SchemaElement[] {
  return [
    { name: 'schema', num_children: columns.length },
    ...columns.map(({ name, as, optional }): SchemaElement =>
      ({ name, repetition_type: optional === true ? 'OPTIONAL' : 'REQUIRED', ...ELEMENTS[as] })),
  ];
}

/** Returns room for `capacity` values of a column. */
export function columnValues<Row>(column: ParquetColumn<Row>, capacity: number): ColumnValues<Row> {
  if (column.optional === true) return listed<Row>(column);
  switch (column.as) {
    case 'unsigned': return packed(column, new BigUint64Array(capacity));
    case 'signed': return packed(column, new BigInt64Array(capacity));
    case 'time':
    case 'double': return packed(column, new Float64Array(capacity));
    case 'text': return listed(column);
    default: return assertNever(column, 'column');
  }
}

interface Memory<T> {
  [index: number]: T;
  subarray(begin: number, end: number): DecodedArray;
}

function packed<Row, T>(
  column: { readonly name: string; readonly as: StoredAs; readonly of: (row: Row) => T }, values: Memory<T>,
): ColumnValues<Row> {
  const { of } = column;
  return {
    put: (index, row) => { values[index] = of(row); },
    source: (rows) => ({ ...described(column), data: values.subarray(0, rows) }),
  };
}

function listed<Row>(
  column: { readonly name: string; readonly as: StoredAs; readonly of: (row: Row) => Stored[StoredAs] | undefined },
): ColumnValues<Row> {
  const { of } = column;
  const values: (Stored[StoredAs] | undefined)[] = [];
  return {
    put: (index, row) => { values[index] = of(row); },
    source: (rows) => ({ ...described(column), data: values.slice(0, rows) }),
  };
}

function described({ name, as }: { readonly name: string; readonly as: StoredAs }): Omit<ColumnSource, 'data'> {
  const encoding = ENCODINGS[as];
  return encoding === undefined ? { name } : { name, encoding };
}
