import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import type { Bitmap, CodedTexts, Columns, WideValues } from '../columns/batch-columns.ts';
import type { Block } from '../columns/block.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';
import { RecordingCursor } from '../cursor.ts';
import type { RecordingKind } from '../format.ts';
import { RECORDING_KINDS } from '../format.ts';
import type { InputSource, RecordingPart } from '../reader.ts';

/** An array type over shared memory. */
interface SharedArray {
  readonly BYTES_PER_ELEMENT: number;
  new (memory: SharedArrayBuffer, at: number, length: number): ArrayLike<number | bigint>;
}

type NumberArrayName = 'Float64Array' | 'Int32Array' | 'Uint16Array' | 'Uint32Array';

/** The arrays of numeric columns, by their name in a layout. */
const NUMBER_ARRAYS: Readonly<Record<NumberArrayName, SharedArray>> =
  { Float64Array, Int32Array, Uint16Array, Uint32Array };

/** Returns the array type of a column. */
export function arrayOf(as: Exclude<ColumnKind, 'texts'>): SharedArray {
  return as === 'wide' ? BigUint64Array : as === 'coded' ? Int32Array : NUMBER_ARRAYS[as];
}

/** The type of a column: 64-bit integers, numbers of one array type, codes of texts in a list, or texts. */
export type ColumnKind = 'wide' | 'coded' | 'texts' | NumberArrayName;

/** The place of a column in memory. */
export interface SharedColumn {
  readonly name: string;
  readonly as: ColumnKind;
  /** Bytes from the start of the block's memory. */
  readonly at: number;
  /** The place of the bitmap of valid rows; null where all rows are valid. */
  readonly valid: number | null;
  /** The number of its list of texts. */
  readonly list: number | null;
}

/** Rows of one kind in memory of their own. */
export interface SharedBlock {
  readonly kind: RecordingKind;
  readonly rows: number;
  /** The number of its memory. */
  readonly memory: number;
  readonly columns: readonly SharedColumn[];
}

/** The places of the rows of a recording; blocks of a kind in order. */
export interface SharedLayout extends RecordingPart {
  readonly feeds: readonly FeedKey[];
  readonly blocks: readonly SharedBlock[];
  readonly dictionaries: readonly (readonly string[])[];
}

/** Returns the start of the next column: arrays of 64 bits are aligned to eight bytes. */
export function alignedEnd(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** One list of texts for each column of a kind, independent of the codes in each segment. */
export interface Dictionaries {
  readonly all: string[][];
  /** Returns the number of the list of a column, and the code in it for each code of the segment. */
  codesOf(column: string, texts: CodedTexts['texts']): { readonly list: number; readonly codes: Int32Array };
}

/** Returns empty dictionaries. */
export function createDictionaries(): Dictionaries {
  const all: string[][] = [];
  const places = new Map<string, { readonly list: number; readonly known: Map<string, number> }>();
  return {
    all,
    codesOf(column, texts) {
      let place = places.get(column);
      if (place === undefined) {
        place = { list: all.length, known: new Map() };
        places.set(column, place);
        all.push([]);
      }
      const { list, known } = place;
      return {
        list,
        codes: Int32Array.from(texts, (text) => {
          let code = known.get(text);
          if (code === undefined) {
            code = all[list]!.push(text) - 1;
            known.set(text, code);
          }
          return code;
        }),
      };
    },
  };
}

/** The rows of a recording in shared memory: passing it to a thread copies nothing. */
export interface SharedRows {
  /** A `SharedLayout` as JSON: the place of each column in the memory. */
  readonly layout: string;
  readonly memory: readonly SharedArrayBuffer[];
  readonly bytes: number;
}

/** Rows that many readers can iterate repeatedly. */
export interface RowSource extends Pick<InputSource, 'kinds' | 'feeds' | 'cursor'> {
  /** Returns the same rows without most of those received before an instant. */
  since(at: Millis): RowSource;
}

/** Returns the rows in shared memory without copying: cursors share their blocks. */
export function openSharedRows({ layout: text, memory }: Pick<SharedRows, 'layout' | 'memory'>): RowSource {
  const layout = JSON.parse(text) as SharedLayout;
  const blocks = layout.blocks.map((block) => {
    const opened = recordedKind(block.kind).read(
      columnsOf(block, { memory: memory[block.memory]!, dictionaries: layout.dictionaries }),
    );
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
      .map((kind) => blocks.filter((block) => block.kind === kind)), layout.firstSeq),
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
