import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import type { RowGroup } from 'hyparquet';
import type { KeyValue, SchemaElement } from 'hyparquet-writer';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { GannetError, messageOf } from '../core/errors.ts';
import type { ColumnValues, ParquetColumn } from './parquet-columns.ts';
import { columnValues, parquetSchema } from './parquet-columns.ts';
import { writeAll } from './segment-writer.ts';

/** Values in a row group, which is what is held in memory: 75,000 quotes, or 15,000 statistics. */
const GROUP_VALUES = 1 << 20;
/** Behind the four letters that a Parquet file begins with. */
const PAGES_START = 4n;
/** What stands behind a file's name until it is whole. */
const UNFINISHED = '.new';

/** Parquet's bytes on their way to a file. */
class FileBytes extends ByteWriter {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  flush(): void {
    onDisk(() => { writeAll(this.#descriptor, this.getBytes()); });
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

/**
 * A Parquet file in the making, under another name until it is published. Only a row group is in memory.
 * Throws USAGE where it cannot be made or somebody else is making it, and RECORDING_WRITE_FAILED where the disk fails it.
 */
export class ParquetFile<Row> {
  readonly path: string;
  rows = 0;
  readonly #columns: readonly ColumnValues<Row>[];
  readonly #groupRows: number;
  readonly #descriptor: number;
  readonly #bytes: FileBytes;
  readonly #writer: ParquetWriter;
  #waiting = 0;
  #isOpen = true;
  #isPublished = false;

  constructor({ path, columns, metadata }: { readonly path: string; readonly columns: readonly ParquetColumn<Row>[]; readonly metadata: KeyValue[] }) {
    this.path = path;
    this.#groupRows = Math.floor(GROUP_VALUES / columns.length);
    this.#columns = columns.map((column) => columnValues(column, this.#groupRows));
    this.#descriptor = opened(path + UNFINISHED);
    this.#bytes = new FileBytes(this.#descriptor);
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema: parquetSchema(columns), codec: 'SNAPPY', kvMetadata: metadata, createdBy: 'gannet' });
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
    onDisk(() => { fsyncSync(this.#descriptor); });
    this.#close();
  }

  /** Gives the file its name. */
  publish(): void {
    onDisk(() => { renameSync(this.path + UNFINISHED, this.path); });
    this.#isPublished = true;
  }

  /** Leaves nothing of a file that was not published. */
  discard(): void {
    if (this.#isPublished) return;
    this.#close();
    rmSync(this.path + UNFINISHED, { force: true });
  }

  #writeGroup(): void {
    const rows = this.#waiting;
    this.#waiting = 0;
    const columnData = this.#columns.map((column) => column.source(rows));
    void this.#writer.write({ columnData, rowGroupSize: rows });
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
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

function opened(path: string): number {
  try {
    return openSync(path, 'wx', 0o644);
  } catch (cause) {
    throw new GannetError('USAGE', `expected to make ${path}, which stands for the export until it is whole: ${messageOf(cause)}; wait for the other export, remove the file if none is running, or name another folder`, { cause });
  }
}

function onDisk(work: () => void): void {
  try {
    work();
  } catch (cause) {
    throw new GannetError('RECORDING_WRITE_FAILED', `the export cannot be written: ${messageOf(cause)}; free space or name another folder`, { cause });
  }
}
