import type { Data, Schema } from 'apache-arrow';
import { createHash } from 'node:crypto';
import { closeSync, fdatasync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Millis } from '../../core/time.ts';
import type { Input } from '../../trading/step.ts';
import { BatchEncoder, KindRows } from '../columns/kind-rows.ts';
import { writeAll } from '../files/durable-write.ts';
import type { RecordingKind } from '../format.ts';
import type { SegmentDigest, SegmentFacts } from './digest.ts';
import { joinFacts } from './digest.ts';

/** Writes the rows of one kind, one file for each hour. Throws the faults of the disk. */
export class KindWriter {
  readonly #rows: KindRows;
  readonly #finished: SegmentWriter[] = [];
  #segment: SegmentWriter | undefined;

  constructor({ kind, directory, batchRows, onWritten }: {
    readonly kind: RecordingKind;
    readonly directory: string;
    readonly batchRows: number;
    /** Called after the bytes are written. */
    readonly onWritten: (digest: SegmentDigest, newFeeds: readonly string[]) => void;
  }) {
    this.#rows = new KindRows({
      kind, batchRows,
      sink: {
        begin: (file, schema) => {
          mkdirSync(dirname(`${directory}/${file}`), { recursive: true, mode: 0o700 });
          this.#segment = new SegmentWriter(directory, file, schema);
        },
        write: (columns, facts, newFeeds) => {
          this.#segment!.write(columns, facts);
          onWritten(this.#segment!.digest(), newFeeds);
        },
        end: () => {
          const segment = this.#segment!;
          segment.end();
          onWritten(segment.digest(), []);
          this.#finished.push(segment);
          this.#segment = undefined;
        },
      },
    });
  }

  /** The number of inputs, written or not. */
  get events(): number {
    return this.#rows.events;
  }

  append(seq: number, at: Millis, input: Input): void {
    this.#rows.append(seq, at, input);
  }

  /** Writes the collected rows as one batch. */
  flush(): void {
    this.#rows.flush();
  }

  /** Ends the open file, if any; the next row begins another. */
  end(): void {
    this.#rows.end();
  }

  /**
   * Resolves when everything written is synced to the disk, with the digests of the complete files, which are then
   * closed.
   */
  async sync(): Promise<SegmentDigest[]> {
    const finished = this.#finished.splice(0);
    try {
      for (const segment of finished) await segment.sync();
    } finally {
      for (const segment of finished) segment.close();
    }
    await this.#segment?.sync();
    return finished.map((segment) => segment.digest());
  }

  /** Closes the files without syncing. */
  release(): void {
    for (const segment of this.#finished.splice(0)) segment.close();
    this.#segment?.close();
    this.#segment = undefined;
  }
}

/** One segment file: an Arrow IPC stream with a running hash of its bytes. Throws the faults of the disk. */
class SegmentWriter {
  readonly file: string;
  readonly #encoder: BatchEncoder;
  readonly #hash = createHash('sha256');
  readonly #descriptor: number;
  #facts: SegmentFacts | undefined;
  #bytes = 0;

  /** Creates the file `file` of the recording at `directory`; it must not exist. */
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

  /** Returns the digest of the bytes written so far. */
  digest(): SegmentDigest {
    const facts = this.#facts ?? { rows: 0, events: 0, firstSeq: 0, lastSeq: 0, firstAt: 0, lastAt: 0 };
    return { file: this.file, bytes: this.#bytes, ...facts, sha256: this.#hash.copy().digest('hex') };
  }

  /** Resolves when the bytes written so far are synced to the disk. */
  sync(): Promise<void> {
    return syncData(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Writes each batch in one call: a system call costs more than copying. */
  #append(pieces: readonly Uint8Array[]): void {
    const bytes = joined(pieces);
    writeAll(this.#descriptor, bytes);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }
}

/** Reused by each call, because new memory costs more than filling it. */
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
