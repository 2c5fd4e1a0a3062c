import type { Data, Schema } from 'apache-arrow';
import { createHash } from 'node:crypto';
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { BatchEncoder } from '../columns/batch-encoder.ts';
import type { SegmentDigest } from './digest.ts';
import type { SegmentFacts } from './facts.ts';
import { joinFacts } from './facts.ts';

/**
 * One segment file: an Arrow IPC stream with a running hash of its bytes. Faults of the disk are thrown as they come.
 */
export class SegmentWriter {
  readonly file: string;
  readonly #encoder: BatchEncoder;
  readonly #hash = createHash('sha256');
  readonly #descriptor: number;
  #facts: SegmentFacts | undefined;
  #bytes = 0;

  /** Begins the file `file` of the recording at `directory`; it must not exist. */
  constructor(directory: string, file: string, schema: Schema) {
    this.file = file;
    this.#encoder = new BatchEncoder(schema);
    this.#descriptor = openSync(`${directory}/${file}`, 'wx', 0o600);
  }

  /** Writes one complete batch. */
  write(columns: Data[], facts: SegmentFacts): void {
    this.#append(this.#encoder.encode(columns, facts.rows));
    this.#facts = joinFacts(this.#facts, facts);
  }

  /** Writes the mark that ends an Arrow stream. */
  end(): void {
    this.#append(this.#encoder.end());
  }

  /** Returns what is known of the bytes written so far. */
  digest(): SegmentDigest {
    const facts = this.#facts ?? { rows: 0, events: 0, firstSeq: 0, lastSeq: 0, firstAt: 0, lastAt: 0 };
    return { file: this.file, bytes: this.#bytes, ...facts, sha256: this.#hash.copy().digest('hex') };
  }

  /** Resolves when the bytes written so far are on the disk itself. */
  sync(): Promise<void> {
    return syncData(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** In one call for each batch: what it costs to make calls is more than what it costs to copy. */
  #append(pieces: readonly Uint8Array[]): void {
    const bytes = joined(pieces);
    writeAll(this.#descriptor, bytes);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }
}

/** Nothing of it outlives the call that asked for it: memory that is new costs more than what goes into it. */
let scratch = Buffer.alloc(0);

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > scratch.length) scratch = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(length)));
  let at = 0;
  for (const piece of pieces) {
    scratch.set(piece, at);
    at += piece.length;
  }
  return scratch.subarray(0, length);
}

const syncData = promisify(fdatasync);

/** Writes all of `bytes`; one call may write less than it was given. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(descriptor, bytes, done, bytes.length - done);
}
