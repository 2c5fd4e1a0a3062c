import type { Data, Schema } from 'apache-arrow';
import { BatchEncoder } from '../columns/batch-encoder.ts';
import { FRAME_BYTES } from '../segment/segment-file.ts';
import type { SegmentPacker } from './segment-packer.ts';

/** The Arrow streams of one kind's segments, one after the other, cut into frames for the packer. */
export class PackedSegment {
  readonly #packer: SegmentPacker;
  #file = '';
  #encoder: BatchEncoder | undefined;
  readonly #frame = new Uint8Array(FRAME_BYTES);
  #filled = 0;

  constructor(packer: SegmentPacker) {
    this.#packer = packer;
  }

  begin(file: string, schema: Schema): void {
    this.#file = file;
    this.#encoder = new BatchEncoder(schema);
  }

  write(columns: Data[], rows: number): void {
    this.#fill(this.#encoder!.encode(columns, rows));
  }

  end(): void {
    this.#fill(this.#encoder!.end());
    this.#packer.add({ file: this.#file, stream: this.#frame.subarray(0, this.#filled), isLast: true });
    this.#filled = 0;
  }

  /** A full frame waits for what follows it: the last one is never empty. */
  #fill(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) {
      for (let done = 0; done < piece.length;) {
        if (this.#filled === this.#frame.length) {
          this.#packer.add({ file: this.#file, stream: this.#frame, isLast: false });
          this.#filled = 0;
        }
        const part = piece.subarray(done, done + this.#frame.length - this.#filled);
        this.#frame.set(part, this.#filled);
        this.#filled += part.length;
        done += part.length;
      }
    }
  }
}
