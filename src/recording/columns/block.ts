import type { Millis } from '../../core/time.ts';
import type { RecordingKind } from '../format.ts';
import type { InputByKind } from '../format.ts';
import type { Bitmap, CodedTexts, Columns, WideValues } from './batch-columns.ts';
import { isSet, signedAt, unsignedAt } from './batch-columns.ts';

/** The columns that every row starts with. */
export interface StampColumns {
  readonly seq: WideValues;
  readonly receivedAt: WideValues;
  readonly eventAt: WideValues;
  readonly feed: CodedTexts;
  /** By how much the stamp is later than `receivedAt`, milliseconds. */
  readonly stampLagMs: Int32Array;
}

/** Consecutive inputs of one kind, held as columns. */
export interface Block<K extends RecordingKind = RecordingKind> {
  readonly kind: K;
  /** The number of inputs. */
  readonly length: number;
  seqAt(index: number): number;
  /** Returns the stamp, milliseconds. */
  timeAt(index: number): Millis;
  inputAt(index: number): InputByKind[K];
  /** Drops the inputs after a number. */
  endAt(lastSeq: number): void;
}

/** Returns the number of inputs of a block up to a number. */
export function lengthUntil(block: Block, lastSeq: number): number {
  let { length } = block;
  while (length > 0 && block.seqAt(length - 1) > lastSeq) length -= 1;
  return length;
}

/** Returns the stamp columns of the batch that is open. */
export function readStamps(columns: Columns): StampColumns {
  return {
    seq: columns.wide('seq'),
    receivedAt: columns.wide('received_at'),
    eventAt: columns.wide('event_at'),
    feed: columns.coded('feed'),
    stampLagMs: columns.numbers('stamp_lag_ms', Int32Array).values,
  };
}

/** Returns the number under which a row was stamped. */
export function seqOf(stamps: StampColumns, row: number): number {
  return unsignedAt(stamps.seq.halves, row);
}

/** Returns the time with which a row was stamped. */
export function timeOf(stamps: StampColumns, row: number): Millis {
  return signedAt(stamps.receivedAt.halves, row) + stamps.stampLagMs[row]!;
}

/** Returns the common fields of a market event in a row. */
export function eventBase(stamps: StampColumns, row: number): { feed: string; receivedAt: Millis; eventAt?: Millis } {
  const base = { feed: textAt(stamps.feed, row), receivedAt: signedAt(stamps.receivedAt.halves, row) };
  return isSet(stamps.eventAt.valid, row) ? { ...base, eventAt: signedAt(stamps.eventAt.halves, row) } : base;
}

/** Returns the text of a row. */
export function textAt({ codes, texts }: CodedTexts, row: number): string {
  return texts[codes[row]!]!;
}

/** Returns the number of a row, undefined where it holds none. */
export function numberAt(
  { values, valid }: { readonly values: ArrayLike<number>; readonly valid: Bitmap }, row: number,
): number | undefined {
  return isSet(valid, row) ? values[row] : undefined;
}
