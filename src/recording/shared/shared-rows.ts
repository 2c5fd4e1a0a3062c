import type { Columns } from '../columns/batch-columns.ts';
import { DECODED_BYTES } from '../columns/quote-block.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';
import type { RecordingKind } from '../format.ts';
import { RECORDING_KINDS } from '../format.ts';
import type { Recording } from '../reader.ts';
import { readBatches } from '../segment/segment-reader.ts';
import type { ColumnKind, Dictionaries, SharedBlock, SharedColumn, SharedLayout, SharedRows } from './shared-source.ts';
import { alignedEnd, arrayOf, createDictionaries } from './shared-source.ts';

/** Small batches of a live run are joined into blocks of this size. */
const BLOCK_ROWS = 65_536;

/**
 * Copies the rows of some kinds into shared memory, one block at a time. Returns undefined, usually early, where they
 * need more than `mostBytes`. Throws RECORDING_CORRUPT.
 */
export function* shareRows(
  recording: Recording, { kinds, mostBytes }: { readonly kinds: readonly RecordingKind[]; readonly mostBytes: number },
): Generator<undefined, SharedRows | undefined> {
  const shared: { blocks: SharedBlock[]; memory: SharedArrayBuffer[]; bytes: number } =
    { blocks: [], memory: [], bytes: 0 };
  const dictionaries = createDictionaries();
  for (const kind of RECORDING_KINDS.filter((name) => kinds.includes(name))) {
    for (const batches of gathered(recording, kind)) {
      const [{ specs }] = batches as [Batch];
      const { block, memory } = copyBlock({ kind, specs, batches, place: shared.memory.length }, dictionaries);
      shared.blocks.push(block);
      shared.memory.push(memory);
      const bytes = memory.byteLength + (block.kind === 'quote' ? DECODED_BYTES * block.rows : 0);
      shared.bytes += bytes;
      const rowsLeft = rowsOf(recording, kind) - rowsIn(shared.blocks, kind);
      if (shared.bytes + (bytes / block.rows) * rowsLeft > mostBytes) return undefined;
      yield undefined;
    }
  }
  const layout: SharedLayout = {
    feeds: recording.feeds, ...recording.part, blocks: shared.blocks,
    dictionaries: dictionaries.all,
  };
  return { layout: JSON.stringify(layout), memory: shared.memory, bytes: shared.bytes };
}

/** A column of a batch with the type by which it is read. */
interface ColumnSpec {
  readonly name: string;
  readonly as: ColumnKind;
}

interface Batch {
  readonly rows: number;
  readonly specs: readonly ColumnSpec[];
  readonly columns: ReadonlyMap<string, BatchColumn>;
}

interface BatchColumn {
  readonly values: ArrayLike<number | bigint>;
  readonly valid: Uint8Array | undefined;
  readonly texts: readonly string[];
}

const NO_TEXTS: readonly string[] = [];

function rowsOf({ segments }: Recording, kind: RecordingKind): number {
  return segments.reduce((sum, { file, rows }) => sum + (file.startsWith(`${kind}/`) ? rows : 0), 0);
}

function rowsIn(blocks: readonly SharedBlock[], kind: RecordingKind): number {
  return blocks.reduce((sum, block) => sum + (block.kind === kind ? block.rows : 0), 0);
}

/** Joins complete batches, so that an order book stays in one block. */
function* gathered(
  { directory, segments, part }: Recording, kind: RecordingKind,
): Generator<Batch[]> {
  let waiting: Batch[] = [];
  let rows = 0;
  for (const digest of segments) {
    if (!digest.file.startsWith(`${kind}/`) || digest.firstSeq > (part.lastSeq ?? Infinity)) continue;
    for (const batch of readBatches(directory, digest, (columns) => batchOf(kind, columns))) {
      waiting.push(batch);
      rows += batch.rows;
      if (rows < BLOCK_ROWS) continue;
      yield waiting;
      [waiting, rows] = [[], 0];
    }
  }
  if (rows > 0) yield waiting;
}

/** The reader of blocks knows the columns: its requests are recorded. */
function batchOf(kind: RecordingKind, columns: Columns): Batch {
  const specs: ColumnSpec[] = [];
  const found = new Map<string, BatchColumn>();
  const note = (name: string, as: ColumnKind, column: BatchColumn): void => {
    specs.push({ name, as });
    found.set(name, column);
  };
  const { length } = recordedKind(kind).read({
    wide: (name) => {
      const wide = columns.wide(name);
      note(name, 'wide', { values: wide.values, valid: wide.valid, texts: NO_TEXTS });
      return wide;
    },
    numbers: (name, type) => {
      const numbers = columns.numbers(name, type);
      note(name, type.name as ColumnKind, {
        values: numbers.values as unknown as ArrayLike<number>, valid: numbers.valid, texts: NO_TEXTS,
      });
      return numbers;
    },
    coded: (name) => {
      const coded = columns.coded(name);
      note(name, 'coded', { values: coded.codes, valid: coded.valid, texts: coded.texts });
      return coded;
    },
    texts: (name) => {
      const texts = columns.texts(name);
      note(name, 'texts', { values: [], valid: undefined, texts });
      return texts;
    },
  });
  const stamps = found.get('seq');
  return { rows: stamps?.values.length ?? length, specs, columns: found };
}

interface Gathered {
  readonly kind: RecordingKind;
  readonly specs: readonly ColumnSpec[];
  readonly batches: readonly Batch[];
  /** The number of the block's memory. */
  readonly place: number;
}

function copyBlock(
  { kind, specs, batches, place }: Gathered, dictionaries: Dictionaries,
): { readonly block: SharedBlock; readonly memory: SharedArrayBuffer } {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  const planned = specs.map((spec) =>
    planColumn(spec, { kind, rows, parts: batches.map(({ columns }) => columns.get(spec.name)!) }, dictionaries));
  let bytes = 0;
  const columns = planned.map(({ column, valueBytes, hasNulls }): SharedColumn => {
    const at = bytes;
    const valid = alignedEnd(at + valueBytes);
    bytes = hasNulls ? alignedEnd(valid + Math.ceil(rows / 8)) : valid;
    return { ...column, at, valid: hasNulls ? valid : null };
  });
  const memory = new SharedArrayBuffer(bytes);
  for (const [i, { write }] of planned.entries()) write(memory, columns[i]!);
  return { block: { kind, rows, memory: place, columns }, memory };
}

interface PlannedColumn {
  readonly column: Omit<SharedColumn, 'at' | 'valid'>;
  readonly valueBytes: number;
  readonly hasNulls: boolean;
  readonly write: (memory: SharedArrayBuffer, column: SharedColumn) => void;
}

function planColumn({ name, as }: ColumnSpec, { kind, rows, parts }: {
  readonly kind: RecordingKind; readonly rows: number; readonly parts: readonly BatchColumn[];
}, dictionaries: Dictionaries): PlannedColumn {
  if (as === 'texts') return planTexts(name, parts.flatMap(({ texts }) => texts));
  const array = arrayOf(as);
  const coded = as !== 'coded' ? [] : parts.map(({ texts }) => dictionaries.codesOf(`${kind}/${name}`, texts));
  const hasNulls = parts.some(({ valid }) => valid !== undefined);
  return {
    column: { name, as, list: coded[0]?.list ?? null },
    valueBytes: rows * array.BYTES_PER_ELEMENT,
    hasNulls,
    write: (memory, { at, valid }) => {
      const values = new array(memory, at, rows) as unknown as Settable;
      const bitmap = valid === null ? undefined : new Uint8Array(memory, valid, Math.ceil(rows / 8));
      let row = 0;
      for (const [i, part] of parts.entries()) {
        if (coded[i] === undefined) values.set(part.values, row);
        else recode(values as Int32Array, row, { from: part.values as Int32Array, codes: coded[i].codes });
        if (bitmap !== undefined) copyBits(bitmap, row, part);
        row += part.values.length;
      }
    },
  };
}

interface Settable {
  set(from: ArrayLike<number | bigint>, row: number): void;
}

function recode(
  values: Int32Array, row: number, { from, codes }: { readonly from: Int32Array; readonly codes: Int32Array },
): void {
  const known = codes.length;
  for (let k = 0; k < from.length; k++) {
    const code = from[k]!;
    // A row without a text holds any code, even an unknown one.
    values[row + k] = code < known ? codes[code]! : 0;
  }
}

/** Stores the ends of the texts, then the texts in UTF-8. */
function planTexts(name: string, texts: readonly string[]): PlannedColumn {
  const encoded = texts.map((text) => Buffer.from(text, 'utf8'));
  const textBytes = encoded.reduce((sum, { length }) => sum + length, 0);
  return {
    column: { name, as: 'texts', list: null },
    valueBytes: 4 * texts.length + textBytes,
    hasNulls: false,
    write: (memory, { at }) => {
      const ends = new Uint32Array(memory, at, texts.length);
      const bytes = new Uint8Array(memory, at + 4 * texts.length, textBytes);
      let end = 0;
      for (const [i, text] of encoded.entries()) {
        bytes.set(text, end);
        end += text.length;
        ends[i] = end;
      }
    },
  };
}

function copyBits(bitmap: Uint8Array, first: number, { values: { length }, valid }: BatchColumn): void {
  for (let k = 0; k < length; k++) {
    const row = first + k;
    // Aligned bytes are copied whole; bits after the last row are never read.
    if ((k & 7) === 0 && (row & 7) === 0 && k + 8 <= length) {
      bitmap[row >> 3] = valid === undefined ? 0xff : valid[k >> 3]!;
      k += 7;
    } else if (valid === undefined || ((valid[k >> 3]! >> (k & 7)) & 1) === 1) bitmap[row >> 3]! |= 1 << (row & 7);
  }
}
