import type { DecodedArray, Encoding, RowGroup } from 'hyparquet';
import type { ColumnSource, KeyValue, SchemaElement } from 'hyparquet-writer';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { assertNever } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import { UnfinishedFile } from './unfinished-file.ts';

/** Values in a row group, which is held in memory: 75,000 quotes, or 15,000 statistics. */
const GROUP_VALUES = 1 << 20;
/** The offset after the four letters at the start of a Parquet file. */
const PAGES_START = 4n;

/** Passes the bytes of the encoder on to a file. */
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
 * A Parquet file under a temporary name until it is published. Only one row group is in memory. Throws the errors of an
 * unfinished file.
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

  /** The number of written bytes. */
  get bytes(): number {
    return this.#bytes.offset;
  }

  /** Appends a row; returns whether a row group was written. */
  append(row: Row): boolean {
    for (const column of this.#columns) column.put(this.#waiting, row);
    this.#waiting += 1;
    this.rows += 1;
    if (this.#waiting < this.#groupRows) return false;
    this.#writeGroup();
    return true;
  }

  /** Writes the remaining rows and the footer, and syncs the file. */
  finish(): void {
    if (this.#waiting > 0) this.#writeGroup();
    // The encoder writes an empty list in a form that strict readers refuse.
    if (this.rows === 0) this.#writer.row_groups.push(emptyGroup(this.#writer.schema));
    void this.#writer.finish();
    this.#file.finish();
  }

  /** Gives the file its final name. */
  publish(): void {
    this.#file.publish();
  }

  /** Removes an unpublished file. */
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

/** The type of a column by its storage. */
interface Stored {
  /** Amounts, slots and block heights: 0 to 2^64 - 1. */
  readonly unsigned: bigint;
  /** -2^63 to 2^63 - 1. */
  readonly signed: bigint;
  /** Milliseconds since 1970, UTC. */
  readonly time: Millis;
  readonly double: number;
  readonly text: string;
  readonly boolean: boolean;
}
type StoredAs = keyof Stored;

/** A column of a table: its name, its storage, and its value in a row; `optional` columns may be empty. */
export type ParquetColumn<Row> = {
  readonly [S in StoredAs]: { readonly name: string; readonly as: S } & (
    | { readonly optional?: false; readonly of: (row: Row) => Stored[S] }
    | { readonly optional: true; readonly of: (row: Row) => Stored[S] | undefined }
  );
}[StoredAs];

/** The values of a column that wait to be written. */
interface ColumnValues<Row> {
  put(index: number, row: Row): void;
  /** Returns the first `rows` values as the encoder takes them; they are valid until the next change. */
  source(rows: number): ColumnSource;
}

const ELEMENTS: { readonly [S in StoredAs]: Omit<SchemaElement, 'name'> } = {
  // Without the newer logical type: the encoder writes its width in a size that strict readers refuse.
  unsigned: { type: 'INT64', converted_type: 'UINT_64' },
  signed: { type: 'INT64' },
  time: {
    type: 'INT64', converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  double: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  boolean: { type: 'BOOLEAN' },
};

/**
 * Without this the encoder uses a dictionary for repeated values, and one of doubles would equate 0 and -0. Delta
 * encoding would be shorter, but some readers misread it silently.
 */
const ENCODINGS: { readonly [S in StoredAs]?: Encoding } = { double: 'PLAIN' };

/** Returns the schema of a table with these columns. */
function parquetSchema<Row>(columns: readonly ParquetColumn<Row>[]): SchemaElement[] {
  return [
    { name: 'schema', num_children: columns.length },
    ...columns.map(({ name, as, optional }): SchemaElement =>
      ({ name, repetition_type: optional === true ? 'OPTIONAL' : 'REQUIRED', ...ELEMENTS[as] })),
  ];
}

/** Returns room for `capacity` values of a column. */
function columnValues<Row>(column: ParquetColumn<Row>, capacity: number): ColumnValues<Row> {
  if (column.optional === true) return listed<Row>(column);
  switch (column.as) {
    case 'unsigned': return packed(column, new BigUint64Array(capacity));
    case 'signed': return packed(column, new BigInt64Array(capacity));
    case 'time':
    case 'double': return packed(column, new Float64Array(capacity));
    case 'text':
    case 'boolean': return listed(column);
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
