import type { Schema } from 'apache-arrow';
import { mkdirSync } from 'node:fs';
import type { Millis } from '../core/time.ts';
import type { Input } from '../trading/step.ts';
import { hourName } from './directory.ts';
import type { RecordingKind } from './format.ts';
import type { RowBuffer } from './row-buffers.ts';
import { columnData, createRowBuffer, schemaOf } from './row-buffers.ts';
import type { SegmentDigest } from './segment-digest.ts';
import { SegmentWriter } from './segment-writer.ts';

const HOUR_MS = 3_600_000;

/** Writes the rows of one kind, a file per hour. Faults of the disk are thrown as they come. */
export class KindWriter {
  readonly #kind: RecordingKind;
  readonly #directory: string;
  readonly #onWritten: (digest: SegmentDigest, newFeeds: readonly string[]) => void;
  readonly #buffer: RowBuffer;
  readonly #schema: Schema;
  readonly #finished: SegmentWriter[] = [];
  #capacity: number;
  #segment: SegmentWriter | undefined;
  /** From which time on the next file is due. Time that goes back stays in the file it is in. */
  #rollAt: Millis = -Infinity;
  #rows = 0;
  #pendingEvents = 0;
  #events = 0;
  #firstSeq = 0;
  #lastSeq = 0;
  #firstAt: Millis = 0;
  #lastAt: Millis = 0;

  constructor(options: {
    readonly kind: RecordingKind;
    readonly directory: string;
    readonly batchRows: number;
    /** Called after the bytes are written. */
    readonly onWritten: (digest: SegmentDigest, newFeeds: readonly string[]) => void;
  }) {
    this.#kind = options.kind;
    this.#directory = options.directory;
    this.#onWritten = options.onWritten;
    this.#capacity = options.batchRows;
    this.#buffer = createRowBuffer(options.kind);
    this.#schema = schemaOf(this.#buffer);
  }

  /** Inputs taken, written or not. */
  get events(): number {
    return this.#events;
  }

  append(seq: number, at: Millis, input: Input): void {
    if (at >= this.#rollAt) this.#roll(at);
    const rows = this.#buffer.rowsOf(input);
    if (this.#rows + rows > this.#capacity) this.#makeRoom(rows);
    this.#buffer.put(this.#rows, seq, at, input);
    if (this.#rows === 0) {
      this.#firstSeq = seq;
      this.#firstAt = at;
    }
    this.#rows += rows;
    this.#pendingEvents += 1;
    this.#events += 1;
    this.#lastSeq = seq;
    this.#lastAt = at;
    if (this.#rows >= this.#capacity) this.flush();
  }

  /** Writes what is kept as one batch. */
  flush(): void {
    if (this.#rows === 0) return;
    const segment = this.#segment ??= this.#open(this.#firstAt);
    const newFeeds = this.#buffer.feed.fresh;
    segment.write(columnData(this.#buffer, this.#rows), {
      rows: this.#rows, events: this.#pendingEvents,
      firstSeq: this.#firstSeq, lastSeq: this.#lastSeq, firstAt: this.#firstAt, lastAt: this.#lastAt,
    });
    for (const column of this.#buffer.columns) column.clear();
    this.#rows = 0;
    this.#pendingEvents = 0;
    this.#onWritten(segment.digest(), newFeeds);
  }

  /** Ends the file that is open, if any; the next row begins another. */
  end(): void {
    this.flush();
    const segment = this.#segment;
    if (segment === undefined) return;
    segment.end();
    this.#onWritten(segment.digest(), []);
    this.#finished.push(segment);
    this.#segment = undefined;
    for (const column of this.#buffer.columns) column.restart();
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

  #roll(at: Millis): void {
    this.end();
    if (this.#rollAt === -Infinity) this.#allocate(this.#capacity);
    this.#rollAt = (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;
  }

  #makeRoom(rows: number): void {
    this.flush();
    if (rows > this.#capacity) this.#allocate(rows);
  }

  #allocate(rows: number): void {
    this.#capacity = rows;
    for (const column of this.#buffer.columns) column.allocate(rows);
  }

  #open(at: Millis): SegmentWriter {
    mkdirSync(`${this.#directory}/${this.#kind}`, { recursive: true });
    return new SegmentWriter(this.#directory, `${this.#kind}/${hourName(at)}.arrows`, this.#schema);
  }
}
