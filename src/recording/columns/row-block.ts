import type { Millis } from '../../core/time.ts';
import type { InputByKind, RecordingKind } from '../format.ts';
import type { Block, StampColumns } from './block.ts';
import { lengthUntil, seqOf, timeOf } from './block.ts';

/** Blocks of kinds with one row for each input. */
export class RowBlock<K extends RecordingKind> implements Block<K> {
  readonly kind: K;
  length: number;
  readonly #stamps: StampColumns;
  readonly #decode: (row: number) => InputByKind[K];

  constructor(kind: K, stamps: StampColumns, decode: (row: number) => InputByKind[K]) {
    this.kind = kind;
    this.length = stamps.stampLagMs.length;
    this.#stamps = stamps;
    this.#decode = decode;
  }

  seqAt(index: number): number {
    return seqOf(this.#stamps, index);
  }

  timeAt(index: number): Millis {
    return timeOf(this.#stamps, index);
  }

  inputAt(index: number): InputByKind[K] {
    return this.#decode(index);
  }

  endAt(lastSeq: number): void {
    this.length = lengthUntil(this, lastSeq);
  }
}
