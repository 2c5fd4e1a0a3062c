import type { Data, Schema } from 'apache-arrow';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { Token } from '../market/token.ts';
import type { Input } from '../trading/step.ts';
import { BatchEncoder, KindRows } from './columns/kind-rows.ts';
import type { Packed } from './compression/packed-file.ts';
import { SegmentPacker } from './compression/segment-packer.ts';
import { syncFolder, writeFault } from './files/durable-write.ts';
import type { RecordingKind, RecordingSource } from './format.ts';
import { RECORDING_KINDS } from './format.ts';
import type { RecordingManifest } from './manifest.ts';
import { RecordingFiles } from './recording-files.ts';
import type { SegmentDigest, SegmentFacts } from './segment/digest.ts';
import { compressedName, joinFacts } from './segment/digest.ts';
import { FRAME_BYTES } from './segment/segment-file.ts';

/** Writes events of the past. */
interface HistoryWriter {
  /** The recording's folder. */
  readonly directory: string;
  /** Whether to wait for `room` before more is added. */
  readonly isBusy: boolean;
  /** Adds an input; numbers and times must grow. */
  append(seq: number, at: Millis, input: Input): void;
  /** Resolves when there is room for more. Rejects with RECORDING_WRITE_FAILED. */
  room(): Promise<void>;
  /** Writes the remaining rows and the final manifest. Rejects with RECORDING_WRITE_FAILED. */
  close(): Promise<RecordingManifest>;
  /**
   * Writes the remaining rows without a final manifest: the recording counts as cut off there. Rejects with
   * RECORDING_WRITE_FAILED.
   */
  stop(): Promise<void>;
}

interface HistoryWriterOptions {
  /** The folder of recordings; created where it is missing. */
  readonly dir: string;
  /** The recording's own folder in it. */
  readonly name: string;
  /** Written into the manifest; also the end of a recording without inputs. */
  readonly createdAt: Millis;
  readonly tokens: readonly Token[];
  readonly source: RecordingSource;
}

const BATCH_ROWS = 4_096;

/**
 * Returns a writer of a recording of the past. Segments are compressed while they are written, in a thread, so that
 * nothing is written twice. The same inputs give the same files. A writer that dies leaves the complete segments.
 * Throws RECORDING_WRITE_FAILED where the folder cannot be created or exists.
 */
export function createHistoryWriter(options: HistoryWriterOptions): HistoryWriter {
  return new PackedWriter(options);
}

/** An unfinished segment. */
interface Begun {
  facts?: SegmentFacts;
  readonly feeds: FeedKey[];
  digest?: SegmentDigest;
}

class PackedWriter implements HistoryWriter {
  readonly directory: string;
  readonly #files: RecordingFiles;
  readonly #packer: SegmentPacker;
  readonly #kinds: Readonly<Record<RecordingKind, KindRows>>;
  /** By compressed file, in the order of their start. */
  readonly #segments = new Map<string, Begun>();
  #endedAt: Millis;

  constructor(options: HistoryWriterOptions) {
    this.#files = new RecordingFiles(options);
    this.directory = this.#files.directory;
    this.#endedAt = options.createdAt;
    this.#packer = new SegmentPacker(this.directory, (file, packed) => { this.#keep(file, packed); });
    this.#kinds = Object.fromEntries(
      RECORDING_KINDS.map((kind) => [kind, this.#kindRows(kind)]),
    ) as Record<RecordingKind, KindRows>;
  }

  get isBusy(): boolean {
    return this.#packer.isBusy;
  }

  append(seq: number, at: Millis, input: Input): void {
    this.#endedAt = at;
    this.#kinds[input.kind].append(seq, at, input);
  }

  async room(): Promise<void> {
    await this.#orFault(() => this.#packer.room());
  }

  async close(): Promise<RecordingManifest> {
    return this.#ending(async () => {
      await this.#end();
      for (const kind of RECORDING_KINDS) if (this.#kinds[kind].events > 0) syncFolder(`${this.directory}/${kind}`);
      return this.#files.finish([...this.#segments.values()].map(({ digest }) => digest!), this.#endedAt);
    });
  }

  async stop(): Promise<void> {
    await this.#ending(() => this.#end());
  }

  #kindRows(kind: RecordingKind): KindRows {
    const segment = new PackedSegment(this.#packer);
    let begun: Begun = { feeds: [] };
    return new KindRows({
      kind, batchRows: BATCH_ROWS,
      sink: {
        begin: (file, schema) => {
          mkdirSync(dirname(`${this.directory}/${file}`), { recursive: true, mode: 0o700 });
          begun = { feeds: [] };
          this.#segments.set(compressedName(file), begun);
          segment.begin(compressedName(file), schema);
        },
        write: (columns, facts, newFeeds) => {
          segment.write(columns, facts.rows);
          begun.facts = joinFacts(begun.facts, facts);
          begun.feeds.push(...newFeeds);
          // The order in which segments are packed is random.
          this.#files.meet(newFeeds);
        },
        end: () => { segment.end(); },
      },
    });
  }

  async #end(): Promise<void> {
    for (const kind of RECORDING_KINDS) this.#kinds[kind].end();
    await this.#packer.done();
    await this.#files.sync();
  }

  #keep(file: string, packed: Packed): void {
    const begun = this.#segments.get(file)!;
    begun.digest = { file, ...begun.facts!, ...packed };
    this.#files.write([{ ...begun.digest, newFeeds: begun.feeds }]);
  }

  async #ending<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#orFault(work);
    } finally {
      await this.#packer.close();
      this.#files.close();
    }
  }

  async #orFault<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw writeFault(this.directory, cause);
    }
  }
}

/** Cuts the Arrow streams of one kind into frames for the packer. */
class PackedSegment {
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

  /** A full frame waits for more bytes, so that the last one is never empty. */
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
