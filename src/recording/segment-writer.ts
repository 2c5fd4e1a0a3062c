import type { Data, Schema } from 'apache-arrow';
import { makeData, RecordBatch, RecordBatchStreamWriter, Struct } from 'apache-arrow';
import type { ArrayBufferViewInput } from 'apache-arrow/util/buffer';
import { toUint8Array } from 'apache-arrow/util/buffer';
import { createHash } from 'node:crypto';
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Millis } from '../core/time.ts';
import type { SegmentDigest } from './segment-digest.ts';

/** Arrow's stream encoder with its output in hand, instead of in a queue that only promises can empty. */
class BatchEncoder extends RecordBatchStreamWriter {
  #chunks: Uint8Array[] = [];

  /** Returns the bytes encoded since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return bytes;
  }

  protected override _write(chunk: ArrayBufferViewInput): this {
    this.#chunks.push(toUint8Array(chunk));
    return this;
  }
}

/** What a batch holds, for the digest. */
export interface BatchFacts {
  readonly rows: number;
  readonly events: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly firstAt: Millis;
  readonly lastAt: Millis;
}

/** One segment file: an Arrow IPC stream with a running hash of its bytes. Faults of the disk are thrown as they come. */
export class SegmentWriter {
  readonly file: string;
  readonly #encoder = new BatchEncoder({ autoDestroy: false });
  readonly #hash = createHash('sha256');
  readonly #schema: Schema;
  readonly #descriptor: number;
  #totals: Omit<SegmentDigest, 'sha256' | 'file'> = { bytes: 0, rows: 0, events: 0, firstSeq: 0, lastSeq: 0, firstAt: 0, lastAt: 0 };

  /** Begins the file `file` of the recording at `directory`; it must not exist. */
  constructor(directory: string, file: string, schema: Schema) {
    this.file = file;
    this.#schema = schema;
    this.#descriptor = openSync(`${directory}/${file}`, 'wx', 0o644);
  }

  /** Writes one complete batch. */
  write(columns: Data[], facts: BatchFacts): void {
    const data = makeData({ type: new Struct(this.#schema.fields), length: facts.rows, nullCount: 0, children: columns });
    this.#encoder.write(new RecordBatch(this.#schema, data));
    this.#append(this.#encoder.take());
    const before = this.#totals;
    this.#totals = {
      bytes: before.bytes,
      rows: before.rows + facts.rows,
      events: before.events + facts.events,
      firstSeq: before.rows === 0 ? facts.firstSeq : before.firstSeq,
      firstAt: before.rows === 0 ? facts.firstAt : before.firstAt,
      lastSeq: facts.lastSeq,
      lastAt: facts.lastAt,
    };
  }

  /** Writes the mark that ends an Arrow stream. */
  end(): void {
    this.#encoder.close();
    this.#append(this.#encoder.take());
  }

  /** Returns what is known of the bytes written so far. */
  digest(): SegmentDigest {
    return { file: this.file, ...this.#totals, sha256: this.#hash.copy().digest('hex') };
  }

  /** Resolves when the bytes written so far are on the disk itself. */
  sync(): Promise<void> {
    return syncData(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #append(bytes: Uint8Array): void {
    writeAll(this.#descriptor, bytes);
    this.#hash.update(bytes);
    this.#totals = { ...this.#totals, bytes: this.#totals.bytes + bytes.length };
  }
}

const syncData = promisify(fdatasync);

/** Writes all of `bytes`; one call may write less than it was given. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(descriptor, bytes, done, bytes.length - done);
}
