import type { FeedKey } from '../../market/event.ts';
import type { CodedTexts } from '../columns/batch-columns.ts';
import type { RecordingKind } from '../format.ts';

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
export interface SharedLayout {
  readonly feeds: readonly FeedKey[];
  /** The number after which rows are left out; null for none. */
  readonly lastSeq: number | null;
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
