import type * as Arrow from 'apache-arrow';
import type { Data, Float, Int } from 'apache-arrow';
import { Dictionary, Field, Float64, Int32, Int64, makeData, Uint16, Uint32, Uint64, Utf8, Vector } from '../arrow.ts';

/** One column of the rows that wait to be written. The result of `toData` is valid until the next change. */
export interface ColumnBuffer {
  readonly field: Arrow.Field;
  /** Allocates `rows` rows and drops the present ones. */
  allocate(rows: number): void;
  toData(rows: number): Data;
  /** Restarts at row 0 of the same file. */
  clear(): void;
  /** Restarts in another file. */
  restart(): void;
}

/** The rows of a column that hold a value. Rows are valid by default, so that the common case costs nothing. */
class Validity {
  #bits = new Uint8Array(0);
  #nulls = 0;

  allocate(rows: number): void {
    // Arrow reads bitmaps in words of eight bytes.
    this.#bits = new Uint8Array(Math.ceil(rows / 64) * 8).fill(0xff);
    this.#nulls = 0;
  }

  setNull(row: number): void {
    this.#bits[row >> 3]! &= ~(1 << (row & 7));
    this.#nulls += 1;
  }

  clear(): void {
    if (this.#nulls > 0) this.#bits.fill(0xff);
    this.#nulls = 0;
  }

  toProps(rows: number): { nullCount: number; nullBitmap?: Uint8Array } {
    if (this.#nulls === 0) return { nullCount: 0 };
    return { nullCount: this.#nulls, nullBitmap: this.#bits.subarray(0, Math.ceil(rows / 64) * 8) };
  }
}

const TWO_POW_32 = 4_294_967_296;

/** 64-bit integers, signed or not, written from numbers by halves without bigints. */
export class WideColumn implements ColumnBuffer {
  readonly field: Arrow.Field;
  readonly #type: Arrow.Int64 | Arrow.Uint64;
  readonly #validity = new Validity();
  #values = new BigUint64Array(0);
  #halves = new Uint32Array(0);

  constructor(name: string, options: { readonly signed?: boolean; readonly nullable?: boolean } = {}) {
    this.#type = options.signed === true ? new Int64() : new Uint64();
    this.field = new Field(name, this.#type, options.nullable ?? false);
  }

  allocate(rows: number): void {
    this.#values = new BigUint64Array(rows);
    this.#halves = new Uint32Array(this.#values.buffer);
    this.#validity.allocate(rows);
  }

  /** Takes a safe integer. */
  setNumber(row: number, value: number): void {
    this.#halves[2 * row] = value;
    this.#halves[2 * row + 1] = Math.floor(value / TWO_POW_32);
  }

  setBigint(row: number, value: bigint): void {
    this.#values[row] = value;
  }

  setNull(row: number): void {
    this.#values[row] = 0n;
    this.#validity.setNull(row);
  }

  toData(rows: number): Data {
    const values = this.#values.subarray(0, rows);
    const data = this.#type instanceof Int64 ? new BigInt64Array(values.buffer, 0, rows) : values;
    return makeData<Int>({ type: this.#type, length: rows, data, ...this.#validity.toProps(rows) });
  }

  clear(): void {
    this.#validity.clear();
  }

  restart(): void {
    this.clear();
  }
}

type Numbers = Float64Array | Uint32Array | Uint16Array | Int32Array;
const NUMBER_TYPES = {
  f64: { type: () => new Float64(), array: Float64Array },
  u32: { type: () => new Uint32(), array: Uint32Array },
  u16: { type: () => new Uint16(), array: Uint16Array },
  i32: { type: () => new Int32(), array: Int32Array },
} as const;

/** Numbers of up to 64 bits that a JavaScript number holds exactly. */
export class NumberColumn implements ColumnBuffer {
  readonly field: Arrow.Field;
  readonly #type: Arrow.Float64 | Arrow.Uint32 | Arrow.Uint16 | Arrow.Int32;
  readonly #array: new (length: number) => Numbers;
  readonly #validity = new Validity();
  #values: Numbers = new Float64Array(0);

  constructor(name: string, type: keyof typeof NUMBER_TYPES, options: { readonly nullable?: boolean } = {}) {
    this.#array = NUMBER_TYPES[type].array;
    this.#type = NUMBER_TYPES[type].type();
    this.field = new Field(name, this.#type, options.nullable ?? false);
  }

  allocate(rows: number): void {
    this.#values = new this.#array(rows);
    this.#validity.allocate(rows);
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
  }

  setNull(row: number): void {
    this.#values[row] = 0;
    this.#validity.setNull(row);
  }

  toData(rows: number): Data {
    const props = { length: rows, data: this.#values.subarray(0, rows), ...this.#validity.toProps(rows) };
    return this.#type instanceof Float64 ? makeData<Float>({ type: this.#type, ...props })
      : makeData<Int>({ type: this.#type, ...props });
  }

  clear(): void {
    this.#validity.clear();
  }

  restart(): void {
    this.clear();
  }
}

/**
 * Texts that repeat. Each batch writes only the texts that are new in this file (a delta dictionary). Chunks written
 * before are passed unchanged, because the encoder recognises them by identity.
 */
export class DictionaryColumn implements ColumnBuffer {
  readonly field: Arrow.Field;
  readonly #type: Arrow.Dictionary<Arrow.Utf8, Arrow.Int32>;
  readonly #validity = new Validity();
  readonly #codes = new Map<string, number>();
  readonly #chunks: Data<Arrow.Utf8>[] = [];
  #fresh: string[] = [];
  #values = new Int32Array(0);

  constructor(name: string, id: number, options: { readonly nullable?: boolean } = {}) {
    this.#type = new Dictionary(new Utf8(), new Int32(), id);
    this.field = new Field(name, this.#type, options.nullable ?? false);
  }

  /** Returns the texts met in this file since the last batch. */
  get fresh(): readonly string[] {
    return this.#fresh;
  }

  allocate(rows: number): void {
    this.#values = new Int32Array(rows);
    this.#validity.allocate(rows);
  }

  set(row: number, text: string): void {
    this.#values[row] = this.#codes.get(text) ?? this.#add(text);
  }

  setNull(row: number): void {
    this.#values[row] = 0;
    this.#validity.setNull(row);
  }

  toData(rows: number): Data {
    // Arrow requires a dictionary before the first batch, even where all rows are null.
    if (this.#fresh.length > 0 || this.#chunks.length === 0) this.#chunks.push(textData(this.#fresh));
    const data = this.#values.subarray(0, rows);
    return makeData<Arrow.Dictionary<Arrow.Utf8, Arrow.Int32>>({
      type: this.#type, length: rows, data, dictionary: new Vector(this.#chunks), ...this.#validity.toProps(rows),
    });
  }

  clear(): void {
    this.#fresh = [];
    this.#validity.clear();
  }

  restart(): void {
    this.clear();
    this.#codes.clear();
    this.#chunks.length = 0;
  }

  #add(text: string): number {
    const code = this.#codes.size;
    this.#codes.set(text, code);
    this.#fresh.push(text);
    return code;
  }
}

/** Texts that do not repeat. */
export class TextColumn implements ColumnBuffer {
  readonly field: Arrow.Field;
  #texts: string[] = [];

  constructor(name: string) {
    this.field = new Field(name, new Utf8(), false);
  }

  allocate(): void {
    this.#texts = [];
  }

  set(row: number, text: string): void {
    this.#texts[row] = text;
  }

  toData(rows: number): Data {
    return textData(this.#texts.slice(0, rows));
  }

  clear(): void {
    this.#texts = [];
  }

  restart(): void {
    this.clear();
  }
}

/** Half surrogates have no UTF-8 and become U+FFFD. */
function textData(texts: readonly string[]): Data<Arrow.Utf8> {
  const encoded = texts.map((text) => Buffer.from(text, 'utf8'));
  const valueOffsets = new Int32Array(texts.length + 1);
  encoded.forEach((bytes, index) => { valueOffsets[index + 1] = valueOffsets[index]! + bytes.length; });
  return makeData({ type: new Utf8(), length: texts.length, nullCount: 0, valueOffsets, data: Buffer.concat(encoded) });
}
