import type { Data, Schema } from 'apache-arrow';
import { AsyncByteQueue, RecordBatch, RecordBatchStreamWriter, Struct, makeData } from '../arrow.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import type { Input } from '../../trading/step.ts';
import type { RecordingKind } from '../format.ts';
import type { SegmentFacts } from '../segment/digest.ts';
import { hourName } from '../segment/digest.ts';
import type { RowBuffer } from './row-buffers.ts';
import { columnData, schemaOf } from './row-buffers.ts';
import { recordedKind } from '../kinds/recorded-kinds.ts';

/** The target of the batches of one kind. */
interface SegmentSink {
  /** Begins a segment such as `quote/2026-11-20T19.arrows`, after the end of the one before. */
  begin(file: string, schema: Schema): void;
  /** Gets one batch, whose memory is reused afterwards, with the feeds met in this segment since the last batch. */
  write(columns: Data[], facts: SegmentFacts, newFeeds: readonly FeedKey[]): void;
  /** Ends the segment. */
  end(): void;
}

const HOUR_MS = 3_600_000;

/** Collects the rows of one kind into batches, with one segment for each hour. */
export class KindRows {
  readonly #kind: RecordingKind;
  readonly #sink: SegmentSink;
  readonly #buffer: RowBuffer;
  readonly #schema: Schema;
  #capacity: number;
  #isOpen = false;
  /** The time of the next segment. Rows with an earlier time than before stay in the open segment. */
  #rollAt: Millis = -Infinity;
  #rows = 0;
  #pendingEvents = 0;
  #events = 0;
  #firstSeq = 0;
  #lastSeq = 0;
  #firstAt: Millis = 0;
  #lastAt: Millis = 0;

  constructor(
    { kind, batchRows, sink }: { readonly kind: RecordingKind; readonly batchRows: number; readonly sink: SegmentSink },
  ) {
    this.#kind = kind;
    this.#sink = sink;
    this.#capacity = batchRows;
    this.#buffer = recordedKind(kind).createRows();
    this.#schema = schemaOf(this.#buffer);
  }

  /** The number of inputs, written or not. */
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

  /** Passes the collected rows on as one batch. */
  flush(): void {
    if (this.#rows === 0) return;
    if (!this.#isOpen) this.#sink.begin(`${this.#kind}/${hourName(this.#firstAt)}.arrows`, this.#schema);
    this.#isOpen = true;
    const newFeeds = this.#kind === 'outcome' || this.#kind === 'command' ? [] : this.#buffer.feed.fresh;
    this.#sink.write(columnData(this.#buffer, this.#rows), {
      rows: this.#rows, events: this.#pendingEvents,
      firstSeq: this.#firstSeq, lastSeq: this.#lastSeq, firstAt: this.#firstAt, lastAt: this.#lastAt,
    }, newFeeds);
    for (const column of this.#buffer.columns) column.clear();
    this.#rows = 0;
    this.#pendingEvents = 0;
  }

  /** Ends the open segment, if any; the next row begins another. */
  end(): void {
    this.flush();
    if (!this.#isOpen) return;
    this.#sink.end();
    this.#isOpen = false;
    for (const column of this.#buffer.columns) column.restart();
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
}

/** The bytes that the encoder wrote, at once, instead of in a queue that only promises can empty. */
class Chunks extends AsyncByteQueue {
  #chunks: Uint8Array[] = [];

  take(): readonly Uint8Array[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  override write(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }
}

/**
 * Encodes one Arrow IPC stream. The returned bytes share the memory of the columns and are valid until these change.
 */
export class BatchEncoder {
  readonly #schema: Schema;
  readonly #chunks = new Chunks();
  readonly #writer = new RecordBatchStreamWriter({ autoDestroy: false }).reset(this.#chunks);

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Returns the bytes of one complete batch in pieces, after the start of the stream at the first batch. */
  encode(columns: Data[], rows: number): readonly Uint8Array[] {
    const data = makeData({ type: new Struct(this.#schema.fields), length: rows, nullCount: 0, children: columns });
    this.#writer.write(new RecordBatch(this.#schema, data));
    return this.#chunks.take();
  }

  /** Returns the mark that ends the stream. */
  end(): readonly Uint8Array[] {
    this.#writer.close();
    return this.#chunks.take();
  }
}
