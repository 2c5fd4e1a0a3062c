import type { SchedulerAction } from 'rxjs';
import type { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Token } from '../market/token.ts';
import type { Input } from '../trading/step.ts';
import { SegmentCompressor } from './compression/segment-compressor.ts';
import { writeFault } from './files/durable-write.ts';
import type { RecordingKind } from './format.ts';
import { RECORDING_KINDS } from './format.ts';
import type { RecordingManifest } from './manifest.ts';
import { RecordingFiles } from './recording-files.ts';
import type { SegmentDigest } from './segment/digest.ts';
import { segmentName } from './segment/digest.ts';
import { KindWriter } from './segment/segment-writer.ts';

/** The counts of a writer. */
interface RecordingStats {
  readonly events: number;
  readonly bytes: number;
  /** Inputs dropped after a fault of the disk. */
  readonly dropped: number;
  readonly failed: boolean;
  /** Complete segments that a fault of the disk left uncompressed, without loss. */
  readonly uncompressed: number;
}

/** Records the inputs of a live run. */
export interface RecordingWriter {
  /** The recording's folder. */
  readonly directory: string;
  /** Keeps an input until the next flush. After a fault of the disk it only counts the dropped inputs. */
  append(seq: number, at: Millis, input: Input): void;
  /** Writes all kept inputs as complete batches, with their digests. */
  flush(): void;
  /**
   * Writes the kept inputs and then nothing more: the recording counts as cut off there. Returns false where it had
   * ended before.
   */
  stop(): boolean;
  /**
   * Writes the remaining inputs, compresses all segments and writes the final manifest, except after `stop`. Rejects
   * with RECORDING_WRITE_FAILED after a fault of the disk, present or past.
   */
  close(): Promise<RecordingManifest>;
  stats(): RecordingStats;
}

interface RecordingWriterOptions {
  /** The folder of recordings; created where it is missing. */
  readonly dir: string;
  /** The recording's own folder in it; named by the time where absent. */
  readonly name?: string | undefined;
  readonly clock: Clock;
  readonly tokens: readonly Token[];
  /** Called with the first fault of the disk (RECORDING_WRITE_FAILED); nothing is written after it. */
  readonly onError: (error: GannetError) => void;
  /** The span that may be lost when the process dies, milliseconds. */
  readonly flushMs?: Millis | undefined;
  /** The rows of one kind in a batch. */
  readonly flushRows?: number | undefined;
  /** The bytes of superseded digests before they are removed; 256 KiB by default. */
  readonly digestSlackBytes?: number | undefined;
}

/**
 * Returns a writer of a new recording: an Arrow stream for each kind and hour, compressed when the hour is over. Every
 * `flushMs` milliseconds it writes the kept inputs and starts a sync. Throws RECORDING_WRITE_FAILED where the folder
 * cannot be created or exists.
 */
export function createRecordingWriter(options: RecordingWriterOptions): RecordingWriter {
  return new DirectoryWriter(options);
}

class DirectoryWriter implements RecordingWriter {
  readonly directory: string;
  readonly #options: RecordingWriterOptions;
  readonly #files: RecordingFiles;
  readonly #kinds: Readonly<Record<RecordingKind, KindWriter>>;
  readonly #compressor: SegmentCompressor;
  readonly #ticks: { unsubscribe(): void };
  /** The last digest of each segment by its name, in the order of their start. */
  readonly #segments = new Map<string, SegmentDigest>();
  /** The feeds of each uncompressed segment, by its name. */
  readonly #feeds = new Map<string, string[]>();
  #fault: GannetError | undefined;
  #dropped = 0;
  #closed = false;
  #stopped = false;
  #syncing: Promise<void> = Promise.resolve();
  #syncPending = false;

  constructor(options: RecordingWriterOptions) {
    this.#options = options;
    const { flushMs = 1_000, flushRows = 4_096 } = options;
    this.#files = new RecordingFiles({ ...options, createdAt: options.clock.now() });
    this.directory = this.#files.directory;
    const kinds = RECORDING_KINDS.map((kind) => [kind, this.#kindWriter(kind, flushRows)]);
    this.#kinds = Object.fromEntries(kinds) as Record<RecordingKind, KindWriter>;
    this.#compressor = new SegmentCompressor(this.directory, {
      onCompressed: (digests) => this.#keepCompressed(digests),
      onDamage: (cause) => { this.#fail(cause); },
    });
    const tick = (): void => {
      this.flush();
      this.#syncSoon();
    };
    this.#ticks = options.clock.schedule(function (this: SchedulerAction<void>) {
      tick();
      this.schedule(undefined, flushMs);
    }, flushMs);
  }

  append(seq: number, at: Millis, input: Input): void {
    if (this.#fault !== undefined || this.#closed || this.#stopped) {
      this.#dropped += 1;
      return;
    }
    try {
      this.#kinds[input.kind].append(seq, at, input);
    } catch (cause) {
      this.#fail(cause);
      this.#dropped += 1;
    }
  }

  flush(): void {
    if (this.#fault !== undefined || this.#closed) return;
    try {
      for (const kind of RECORDING_KINDS) this.#kinds[kind].flush();
    } catch (cause) {
      this.#fail(cause);
    }
  }

  stop(): boolean {
    if (this.#fault !== undefined || this.#closed || this.#stopped) return false;
    this.flush();
    this.#stopped = true;
    this.#compressor.stop();
    return true;
  }

  async close(): Promise<RecordingManifest> {
    this.flush();
    this.#ticks.unsubscribe();
    this.#closed = true;
    await this.#syncing;
    try {
      await this.#compressor.idle();
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#stopped) {
        await this.#syncNow();
        return this.#files.manifest([...this.#segments.values()]);
      }
      for (const kind of RECORDING_KINDS) this.#kinds[kind].end();
      await this.#syncNow();
      await this.#compressor.lastTry();
      if (this.#fault !== undefined) throw this.#fault;
      return this.#files.finish([...this.#segments.values()], this.#options.clock.now());
    } catch (cause) {
      throw this.#fault ?? writeFault(this.directory, cause);
    } finally {
      for (const kind of RECORDING_KINDS) this.#kinds[kind].release();
      this.#files.close();
    }
  }

  stats(): RecordingStats {
    const segments = [...this.#segments.values()];
    return {
      events: RECORDING_KINDS.reduce((total, kind) => total + this.#kinds[kind].events, 0),
      bytes: segments.reduce((total, { bytes }) => total + bytes, 0),
      dropped: this.#dropped,
      failed: this.#fault !== undefined,
      uncompressed: this.#compressor.left,
    };
  }

  #kindWriter(kind: RecordingKind, flushRows: number): KindWriter {
    return new KindWriter({
      kind,
      directory: this.directory,
      batchRows: flushRows,
      onWritten: (digest, newFeeds) => {
        this.#files.write([{ ...digest, newFeeds }]);
        const name = segmentName(digest.file);
        this.#segments.set(name, digest);
        this.#feeds.set(name, [...this.#feeds.get(name) ?? [], ...newFeeds]);
      },
    });
  }

  /**
   * Resolves when the digests are synced to the disk. Each contains everything about its segment, so that earlier ones
   * may be removed.
   */
  async #keepCompressed(digests: readonly SegmentDigest[]): Promise<void> {
    this.#files.write(digests.map((digest) =>
      ({ ...digest, newFeeds: this.#feeds.get(segmentName(digest.file)) ?? [] })));
    await this.#files.sync();
    for (const digest of digests) {
      this.#segments.set(segmentName(digest.file), digest);
      this.#feeds.delete(segmentName(digest.file));
    }
    await this.#files.tidy((file) => this.#segments.has(file) && this.#segments.get(file)!.compressed !== undefined);
  }

  /** Syncs beside the event loop. A tick during a sync leaves it to the next one. */
  #syncSoon(): void {
    if (this.#syncPending || this.#fault !== undefined || this.#closed) return;
    this.#syncPending = true;
    this.#syncing = this.#syncNow()
      .catch((cause: unknown) => { this.#fail(cause); })
      .finally(() => { this.#syncPending = false; });
  }

  /** Syncs data before digests, so that a digest on disk describes data on disk. */
  async #syncNow(): Promise<void> {
    const ended: SegmentDigest[] = [];
    for (const kind of RECORDING_KINDS) ended.push(...await this.#kinds[kind].sync());
    await this.#files.sync();
    this.#compressor.add(ended);
  }

  #fail(cause: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = writeFault(this.directory, cause);
    this.#options.onError(this.#fault);
  }
}
