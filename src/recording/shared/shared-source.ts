import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { Bitmap, CodedTexts, Columns, WideValues } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { BLOCK_READERS } from '../columns/event-blocks.ts';
import { RecordingCursor } from '../cursor.ts';
import { RECORDING_KINDS } from '../format.ts';
import type { InputSource } from '../reader.ts';
import type { SharedBlock, SharedColumn, SharedLayout, SharedRows } from './layout.ts';
import { arrayOf } from './layout.ts';

/** Rows that many readers can iterate repeatedly. */
export interface RowSource extends Pick<InputSource, 'kinds' | 'feeds' | 'cursor'> {
  /** Returns the same rows without most of those received before an instant. */
  since(at: Millis): RowSource;
}

/** Returns the rows in shared memory without copying: cursors share their blocks. */
export function openSharedRows({ layout: text, memory }: Pick<SharedRows, 'layout' | 'memory'>): RowSource {
  const layout = JSON.parse(text) as SharedLayout;
  const blocks = layout.blocks.map((block) => {
    const opened = BLOCK_READERS[block.kind](
      columnsOf(block, { memory: memory[block.memory]!, dictionaries: layout.dictionaries }),
    ) as Block;
    if (layout.lastSeq !== null) opened.endAt(layout.lastSeq);
    return opened;
  });
  return rowSource(blocks.filter(({ length }) => length > 0), layout);
}

function rowSource(blocks: readonly Block[], layout: SharedLayout): RowSource {
  const kinds = RECORDING_KINDS.filter((kind) => blocks.some((block) => block.kind === kind));
  return {
    kinds,
    feeds: layout.feeds,
    cursor: ({ kinds: chosen = kinds } = {}) => new RecordingCursor(kinds.filter((kind) => chosen.includes(kind))
      .map((kind) => blocks.filter((block) => block.kind === kind))),
    since: (at) => rowSource(blocks.filter((block) => block.timeAt(block.length - 1) >= at), layout),
  };
}

function columnsOf({ rows, columns }: SharedBlock, { memory, dictionaries }: {
  readonly memory: SharedArrayBuffer; readonly dictionaries: SharedLayout['dictionaries'];
}): Columns {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const columnOf = (name: string): SharedColumn => {
    const column = byName.get(name);
    assert(column, () => `the layout has no column ${name}`);
    return column;
  };
  const bitmapOf = ({ valid }: SharedColumn): Bitmap =>
    (valid === null ? undefined : new Uint8Array(memory, valid, Math.ceil(rows / 8)));
  return {
    wide: (name): WideValues => {
      const column = columnOf(name);
      return {
        values: new BigUint64Array(memory, column.at, rows), halves: new Uint32Array(memory, column.at, 2 * rows),
        valid: bitmapOf(column),
      };
    },
    numbers: <T>(name: string, type: abstract new () => T): { readonly values: T; readonly valid: Bitmap } => {
      const column = columnOf(name);
      const values: unknown =
        new (arrayOf(type.name as SharedColumn['as'] & `${string}Array`))(memory, column.at, rows);
      assert(values instanceof type, () => `column ${name} does not hold ${type.name}`);
      return { values, valid: bitmapOf(column) };
    },
    coded: (name): CodedTexts => {
      const column = columnOf(name);
      return {
        codes: new Int32Array(memory, column.at, rows), texts: dictionaries[column.list!]!, valid: bitmapOf(column),
      };
    },
    texts: (name) => {
      const { at } = columnOf(name);
      const ends = new Uint32Array(memory, at, rows);
      const bytes = Buffer.from(memory, at + 4 * rows);
      return Array.from(ends, (end, row) => bytes.toString('utf8', row === 0 ? 0 : ends[row - 1], end));
    },
  };
}
