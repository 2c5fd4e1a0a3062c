import type { Data, Schema } from 'apache-arrow';
import { makeData, RecordBatch, RecordBatchStreamWriter, Struct } from 'apache-arrow';
import type { ArrayBufferViewInput } from 'apache-arrow/util/buffer';
import { toUint8Array } from 'apache-arrow/util/buffer';

/** Arrow's stream encoder with direct access to its output, instead of a queue that only promises can empty. */
class StreamWriter extends RecordBatchStreamWriter {
  #chunks: Uint8Array[] = [];

  take(): readonly Uint8Array[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  protected override _write(chunk: ArrayBufferViewInput): this {
    this.#chunks.push(toUint8Array(chunk));
    return this;
  }
}

/**
 * Encodes one Arrow IPC stream. The returned bytes share the memory of the columns and are valid until these change.
 */
export class BatchEncoder {
  readonly #schema: Schema;
  readonly #writer = new StreamWriter({ autoDestroy: false });

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Returns the bytes of one complete batch in pieces, after the start of the stream at the first batch. */
  encode(columns: Data[], rows: number): readonly Uint8Array[] {
    const data = makeData({ type: new Struct(this.#schema.fields), length: rows, nullCount: 0, children: columns });
    this.#writer.write(new RecordBatch(this.#schema, data));
    return this.#writer.take();
  }

  /** Returns the mark that ends the stream. */
  end(): readonly Uint8Array[] {
    this.#writer.close();
    return this.#writer.take();
  }
}
