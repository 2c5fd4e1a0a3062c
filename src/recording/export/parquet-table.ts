import type { Millis } from '../../core/time.ts';
import type { MarketEventBase } from '../../market/event.ts';
import type { InputByKind, RecordingKind } from '../format.ts';
import type { ParquetColumn } from './parquet-file.ts';

/** An input with its stamp. */
export interface Stamped<T> {
  readonly seq: number;
  readonly at: Millis;
  readonly input: T;
}

/** The table of a kind. */
export interface ParquetTable<T = InputByKind[RecordingKind], Row = Stamped<T>> {
  readonly columns: readonly ParquetColumn<Row>[];
  /** Returns the rows of an input, one or more. */
  rowsOf(stamped: Stamped<T>): readonly Row[];
}

/** The columns of every table. */
export const STAMP: readonly ParquetColumn<Stamped<unknown>>[] = [
  { name: 'seq', as: 'signed', of: ({ seq }) => BigInt(seq) },
  { name: 'stamped_at', as: 'time', of: ({ at }) => at },
];

/** The first columns of market events. */
export const EVENT: readonly ParquetColumn<Stamped<MarketEventBase>>[] = [
  ...STAMP,
  { name: 'received_at', as: 'time', of: ({ input }) => input.receivedAt },
  { name: 'event_at', as: 'time', optional: true, of: ({ input }) => input.eventAt },
  { name: 'feed', as: 'text', of: ({ input }) => input.feed },
];
