import type { FeedKey } from '../../market/event.ts';
import type { RecordingKind } from '../format.ts';
import type { CodedTexts } from '../columns/batch-columns.ts';

/** An array that can lie in shared memory. */
interface SharedArray {
  readonly BYTES_PER_ELEMENT: number;
  new (memory: SharedArrayBuffer, at: number, length: number): ArrayLike<number | bigint>;
}

type NumberArrayName = 'Float64Array' | 'Int32Array' | 'Uint16Array' | 'Uint32Array';

/** The arrays of columns of numbers, by what a layout calls them. */
export const NUMBER_ARRAYS: Readonly<Record<NumberArrayName, SharedArray>> =
  { Float64Array, Int32Array, Uint16Array, Uint32Array };

/** Returns the array that a column's values are kept in. */
export function arrayOf(as: Exclude<ColumnKind, 'texts'>): SharedArray {
  return as === 'wide' ? BigUint64Array : as === 'coded' ? Int32Array : NUMBER_ARRAYS[as];
}

/** What a column holds: 64-bit integers, numbers of one array type, numbers of texts in a list, or texts themselves. */
export type ColumnKind = 'wide' | 'coded' | 'texts' | NumberArrayName;

/** Where a column lies. */
export interface SharedColumn {
  readonly name: string;
  readonly as: ColumnKind;
  /** Bytes from the beginning of the block's memory. */
  readonly at: number;
  /** Where its bitmap of rows that hold a value lies; null where all do. */
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

/** Where the rows of a recording lie; blocks of a kind in their order. */
export interface SharedLayout {
  readonly feeds: readonly FeedKey[];
  /** The number after which nothing is read any more; null where nothing is beyond. */
  readonly lastSeq: number | null;
  readonly blocks: readonly SharedBlock[];
  readonly dictionaries: readonly (readonly string[])[];
}

/** Returns where the next column may begin: arrays of 64 bits begin at multiples of eight bytes. */
export function alignedEnd(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** One list of texts for each column of a kind, whatever number a segment gave them. */
export interface Dictionaries {
  readonly all: string[][];
  /** Returns the number of a column's list and, by the segment's number of a text, the one in the list. */
  codesOf(column: string, texts: CodedTexts['texts']): { readonly list: number; readonly codes: Int32Array };
}

/** Returns no lists yet. */
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
