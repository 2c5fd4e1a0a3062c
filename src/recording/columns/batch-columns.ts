import type { Data, RecordBatch } from 'apache-arrow';
import { GannetError } from '../../core/errors.ts';

/** 64-bit integers with the same memory as halves: low at 2i, high at 2i + 1. */
export interface WideValues {
  readonly values: BigUint64Array;
  readonly halves: Uint32Array;
  readonly valid: Bitmap;
}

/** Codes with their texts. */
export interface CodedTexts {
  readonly codes: Int32Array;
  readonly texts: readonly string[];
  readonly valid: Bitmap;
}

interface Cuttable<T> {
  subarray(begin: number, end: number): T;
}

/** Rows as typed arrays, one column by name: the input of blocks. */
export type Columns = Pick<BatchColumns, 'wide' | 'numbers' | 'coded' | 'texts'>;

/** Reads the columns of a batch as typed arrays, without copying. Dictionaries are decoded once, unless they grow. */
export class BatchColumns {
  readonly #file: string;
  readonly #texts = new Map<string, { chunks: number; texts: string[] }>();
  #children = new Map<string, Data>();

  constructor(file: string) {
    this.#file = file;
  }

  /** Moves to another batch of the same file. */
  open(batch: RecordBatch): void {
    this.#children = new Map(batch.schema.fields.map((field, index) => [field.name, batch.data.children[index]!]));
  }

  wide(name: string): WideValues {
    const data = this.#data(name);
    const bytes = data.values instanceof BigInt64Array ? data.values : this.#array(name, data, BigUint64Array);
    return {
      values: new BigUint64Array(bytes.buffer, bytes.byteOffset, data.length),
      halves: new Uint32Array(bytes.buffer, bytes.byteOffset, 2 * data.length),
      valid: bitmapOf(data),
    };
  }

  /** Returns numbers of one array type with their bitmap. */
  numbers<T extends Cuttable<T>>(
    name: string, type: abstract new () => T,
  ): { readonly values: T; readonly valid: Bitmap } {
    const data = this.#data(name);
    return { values: this.#rows(name, data, type), valid: bitmapOf(data) };
  }

  coded(name: string): CodedTexts {
    const data = this.#data(name);
    return { codes: this.#rows(name, data, Int32Array), texts: this.#dictionary(name, data), valid: bitmapOf(data) };
  }

  texts(name: string): string[] {
    return this.#decode(name, this.#data(name));
  }

  #dictionary(name: string, data: Data): readonly string[] {
    const chunks = data.dictionary?.data ?? [];
    const known = this.#texts.get(name) ?? { chunks: 0, texts: [] };
    for (const chunk of chunks.slice(known.chunks)) known.texts.push(...this.#decode(name, chunk));
    known.chunks = chunks.length;
    this.#texts.set(name, known);
    return known.texts;
  }

  /** Arrow's decoder is not used, because it drops a leading U+FEFF. */
  #decode(name: string, data: Data): string[] {
    if (data.length === 0) return [];
    const offsets = data.valueOffsets as unknown;
    if (!(offsets instanceof Int32Array)) throw this.#unexpected(name, 'text');
    const { buffer, byteOffset, byteLength } = this.#array(name, data, Uint8Array);
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    return Array.from({ length: data.length }, (_, row) => bytes.toString('utf8', offsets[row], offsets[row + 1]));
  }

  #data(name: string): Data {
    const data = this.#children.get(name);
    if (data === undefined)
      throw new GannetError('RECORDING_CORRUPT', `${this.#file}: expected a column ${name}, found none`, {
        details: { file: this.#file, column: name },
      });
    return data;
  }

  /** Arrow pads its buffers to eight bytes; bytes after the last row are cut off. */
  #rows<T extends Cuttable<T>>(name: string, data: Data, type: abstract new () => T): T {
    return this.#array(name, data, type).subarray(0, data.length);
  }

  #array<T>(name: string, data: Data, type: abstract new () => T): T {
    const values = data.values as unknown;
    if (!(values instanceof type)) throw this.#unexpected(name, type.name);
    return values;
  }

  #unexpected(name: string, expected: string): GannetError {
    return new GannetError('RECORDING_CORRUPT', `${this.#file}: expected column ${name} to hold ${expected}`, {
      details: { file: this.#file, column: name },
    });
  }
}

function bitmapOf(data: Data): Bitmap {
  return data.nullCount === 0 ? undefined : data.nullBitmap;
}

/** An Arrow validity bitmap; undefined where every row holds a value. */
export type Bitmap = Uint8Array | undefined;

/** Returns whether a row holds a value. */
export function isSet(bitmap: Bitmap, row: number): boolean {
  return bitmap === undefined || ((bitmap[row >> 3]! >> (row & 7)) & 1) === 1;
}

const TWO_POW_32 = 4_294_967_296;

/** Returns an unsigned 64-bit integer as the nearest double, from its halves. */
export function unsignedAt(halves: Uint32Array, row: number): number {
  return halves[2 * row + 1]! * TWO_POW_32 + halves[2 * row]!;
}

/** Returns a signed 64-bit integer as the nearest double, from its halves. */
export function signedAt(halves: Uint32Array, row: number): number {
  return (halves[2 * row + 1]! | 0) * TWO_POW_32 + halves[2 * row]!;
}
