import type * as Arrow from 'apache-arrow';
import type { Data } from 'apache-arrow';
import { Schema } from '../arrow.ts';
import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import type { InputByKind, RecordingKind } from '../format.ts';
import type { ColumnBuffer } from './column-buffers.ts';
import { DictionaryColumn, NumberColumn, WideColumn } from './column-buffers.ts';

/** The rows of one kind that wait to be written. */
export interface RowBuffer<T = InputByKind[RecordingKind]> {
  readonly columns: readonly ColumnBuffer[];
  readonly feed: DictionaryColumn;
  /** Returns the number of rows of an input. */
  rowsOf(input: T): number;
  /** Writes an input from row `row` on. The caller has made room. */
  put(row: number, seq: number, at: Millis, input: T): void;
}

/** The columns that every row starts with. */
export class StampColumns {
  readonly seq = new WideColumn('seq');
  readonly receivedAt = new WideColumn('received_at', { signed: true });
  readonly eventAt = new WideColumn('event_at', { signed: true, nullable: true });
  readonly feed = new DictionaryColumn('feed', 0);
  /** The delay of the stamp after `received_at`, milliseconds: an input may have waited in the queue. */
  readonly stampLag = new NumberColumn('stamp_lag_ms', 'i32');
  readonly all: readonly ColumnBuffer[] = [this.seq, this.receivedAt, this.eventAt, this.feed, this.stampLag];

  put(
    row: number, stamp: { seq: number; at: Millis; receivedAt: Millis; eventAt: Millis | undefined; feed: string },
  ): void {
    this.putStamp(row, stamp.seq, stamp.at, stamp.receivedAt);
    this.putEventAt(row, stamp.eventAt);
    this.feed.set(row, stamp.feed);
  }

  putStamp(row: number, seq: number, at: Millis, receivedAt: Millis): void {
    this.seq.setNumber(row, seq);
    this.receivedAt.setNumber(row, receivedAt);
    const lag = at - receivedAt;
    if ((lag | 0) !== lag || !Number.isSafeInteger(receivedAt)) assert(false, `input ${seq} was received at `
      + `${receivedAt} and stamped ${at}: expected whole milliseconds less than 24 days apart`);
    this.stampLag.set(row, lag);
  }

  putEventAt(row: number, eventAt: Millis | undefined): void {
    if (eventAt === undefined) this.eventAt.setNull(row);
    else this.#putKnownEventAt(row, eventAt);
  }

  #putKnownEventAt(row: number, eventAt: Millis): void {
    if (!Number.isSafeInteger(eventAt)) assert(false, `expected eventAt in whole milliseconds, got ${eventAt}`);
    this.eventAt.setNumber(row, eventAt);
  }
}

/** Returns the columns of a kind, in order. */
export function schemaOf(buffer: RowBuffer): Arrow.Schema {
  return new Schema(buffer.columns.map(({ field }) => field));
}

/** Returns the columns' first `rows` rows. */
export function columnData(buffer: RowBuffer, rows: number): Data[] {
  return buffer.columns.map((column) => column.toData(rows));
}
