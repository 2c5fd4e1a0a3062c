import type { Columns } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import type { RowBuffer } from '../columns/row-buffers.ts';
import type { ParquetTable } from '../export/parquet-table.ts';
import type { InputByKind, RecordingKind } from '../format.ts';

/** How the inputs of one kind are written, read, exported and checked. */
export interface RecordedKind<K extends RecordingKind, Row = never> {
  /** Returns an empty buffer for its rows. */
  readonly createRows: () => RowBuffer<InputByKind[K]>;
  /** Returns the open batch as a block. */
  readonly read: (columns: Columns) => Block<K>;
  readonly parquet: ParquetTable<InputByKind[K], Row>;
  /** How its inputs are checked one by one; without it, the rows are only read. */
  readonly check?: InputCheck<InputByKind[K]> | undefined;
}

/** What is wrong with an input itself. */
interface InputCheck<T> {
  /** Returns what is implausible, each for people. */
  readonly implausible: (input: T) => readonly string[];
  /** Returns the price that is compared with the one before in the same feed; undefined where it has none. */
  readonly price?: ((input: T) => number | undefined) | undefined;
}
