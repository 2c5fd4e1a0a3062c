import type { RowGroup } from 'hyparquet';
import type { KeyValue, SchemaElement } from 'hyparquet-writer';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnValues, ParquetColumn } from './columns.ts';
import { columnValues, parquetSchema } from './columns.ts';
import { UnfinishedFile } from '../files/unfinished-file.ts';

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
