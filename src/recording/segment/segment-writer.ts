import type { Data, Schema } from 'apache-arrow';
import { createHash } from 'node:crypto';
import { closeSync, fdatasync, mkdirSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { writeAll } from '../files/durable-write.ts';
import { BatchEncoder } from '../columns/batch-encoder.ts';
import type { SegmentDigest, SegmentFacts } from './digest.ts';
import { joinFacts } from './digest.ts';
import { dirname } from 'node:path';
import type { Millis } from '../../core/time.ts';
import type { Input } from '../../trading/step.ts';
import type { RecordingKind } from '../format.ts';
import { KindRows } from '../columns/kind-rows.ts';

/** Writes the rows of one kind, a file per hour. Faults of the disk are thrown as they come. */
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

  /** Inputs taken, written or not. */
  get events(): number {
    return this.#rows.events;
  }

  append(seq: number, at: Millis, input: Input): void {
    this.#rows.append(seq, at, input);
  }

  /** Writes what is kept as one batch. */
  flush(): void {
    this.#rows.flush();
  }

  /** Ends the file that is open, if any; the next row begins another. */
  end(): void {
    this.#rows.end();
  }

  /** Resolves when what was written is on the disk itself, with the files that ended: they are closed then. */
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

  /** Closes the files without a further word. */
  release(): void {
    for (const segment of this.#finished.splice(0)) segment.close();
    this.#segment?.close();
    this.#segment = undefined;
  }
}

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
