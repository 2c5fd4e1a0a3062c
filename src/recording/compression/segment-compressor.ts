import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isGannetError } from '../../core/errors.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { compressSegment } from './compress-segment.ts';

/** Waiting for the disk is what takes time: it is waited for once for so many segments. */
const BATCH = 64;
/** As many threads as there are for such work. */
const AT_ONCE = 4;

/** What a compressor tells. */
export interface CompressorEvents {
  /** Resolves when the new digests are on the disk itself. */
  readonly onCompressed: (digests: readonly SegmentDigest[]) => Promise<void>;
  /** A segment's bytes are not those that were written (RECORDING_CORRUPT). */
  readonly onDamage: (cause: Error) => void;
}

/**
 * Compresses the segments that have ended, apart from the event loop. At every instant there is a
 * whole file with a digest on the disk: the old file goes only after the new one's digest has arrived there.
 */
export class SegmentCompressor {
  readonly #directory: string;
  readonly #events: CompressorEvents;
  /** Ended, and left as they were by a fault of the disk. */
  readonly #left: SegmentDigest[] = [];
  readonly #waiting: SegmentDigest[] = [];
  #working = false;
  #work: Promise<void> = Promise.resolve();
  readonly #cut = new AbortController();
  #stopped = false;

  constructor(directory: string, events: CompressorEvents) {
    this.#directory = directory;
    this.#events = events;
  }

  /** How many segments a fault of the disk left uncompressed; nothing of them is lost. */
  get left(): number {
    return this.#left.length;
  }

  /** Takes segments that ended and are on the disk itself. */
  add(digests: readonly SegmentDigest[]): void {
    this.#waiting.push(...digests);
    if (this.#waiting.length > 0 && !this.#working) {
      this.#working = true;
      this.#work = this.#compressAll();
    }
  }

  /** Begins no further segment. */
  stop(): void {
    this.#waiting.length = 0;
    this.#stopped = true;
  }

  /** Gives up what is under way too: it stays as it was. */
  cut(): void {
    this.stop();
    this.#cut.abort();
  }

  /** Resolves when nothing more is under way. */
  idle(): Promise<void> {
    return this.#work;
  }

  /** Resolves when everything has been tried, what a fault of the disk had left once more. */
  async lastTry(): Promise<void> {
    await this.#work;
    this.add(this.#left.splice(0));
    await this.#work;
  }

  async #compressAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped) await this.#compressBatch(this.#waiting.splice(0, BATCH));
    this.#working = false;
  }

  async #compressBatch(digests: readonly SegmentDigest[]): Promise<void> {
    const done: Done[] = [];
    const queue = digests.values();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (const digest of queue) {
        if (this.#stopped) return;
        const compressed = await this.#compress(digest);
        if (compressed !== undefined) done.push({ digest, compressed });
      }
    }));
    if (done.length === 0) return;
    try {
      for (const folder of new Set(done.map(({ digest }) => dirname(`${this.#directory}/${digest.file}`))))
        await syncFolder(folder);
      await this.#events.onCompressed(done.map(({ compressed }) => compressed));
    } catch {
      this.#left.push(...done.map(({ digest }) => digest));
      return;
    }
    // What is left behind by a fault here is only one file too many: the digest speaks of the other.
    for (const { digest } of done)
      await rm(`${this.#directory}/${digest.file}`, { force: true }).catch(() => undefined);
  }

  /** Uncompressed a segment is as good, only larger: a recording does not end for a fault of the disk here. */
  async #compress(digest: SegmentDigest): Promise<SegmentDigest | undefined> {
    try {
      return await compressSegment(this.#directory, digest, this.#cut.signal);
    } catch (cause) {
      if (isGannetError(cause)) this.#events.onDamage(cause);
      else if (!this.#cut.signal.aborted) this.#left.push(digest);
      return undefined;
    }
  }
}

interface Done {
  readonly digest: SegmentDigest;
  readonly compressed: SegmentDigest;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
