import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { compressedName } from '../segment/digest.ts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { ZSTD_OPTIONS, checkFrame } from './packed-file.ts';
import { FRAME_BYTES } from '../segment/segment-file.ts';

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

const compress = promisify(zstdCompress);

/**
 * Compresses a segment that has ended into a file beside it: one zstd frame for each MiB, so that any decompressor
 * makes the Arrow stream of it again. Resolves with its digest when its bytes are on the disk itself and it has its
 * name, which the folder's next sync makes last; the old file stays.
 * Rejects with RECORDING_CORRUPT where the segment's bytes are not those of its digest, with what the disk throws, and
 * with the reason of `cut` some frames after it is aborted; nothing new is left then.
 */
export async function compressSegment(
  directory: string, digest: SegmentDigest, cut?: AbortSignal,
): Promise<SegmentDigest> {
  const file = compressedName(digest.file);
  const path = `${directory}/${file}`;
  const unfinished = `${path}.new`;
  try {
    const written = await copyInFrames({ source: `${directory}/${digest.file}`, target: unfinished }, digest, cut);
    await rename(unfinished, path);
    return { ...digest, file, ...written };
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw cause;
  }
}

async function copyInFrames(
  { source, target }: { readonly source: string; readonly target: string }, digest: SegmentDigest,
  cut: AbortSignal | undefined,
): Promise<Pick<SegmentDigest, 'bytes' | 'sha256' | 'compressed'>> {
  const from = await open(source, 'r');
  try {
    const to = await open(target, 'w', 0o600);
    try {
      const hashes = { raw: createHash('sha256'), packed: createHash('sha256') };
      const frames: number[] = [];
      for await (const chunk of chunksOf(from, digest.bytes)) {
        cut?.throwIfAborted();
        hashes.raw.update(chunk);
        const frame = await compress(chunk, ZSTD_OPTIONS);
        checkFrame(target, frame, chunk);
        hashes.packed.update(frame);
        frames.push(frame.length);
        await writeWhole(to, frame);
      }
      const rawSha256 = hashes.raw.digest('hex');
      if (rawSha256 !== digest.sha256) throw corrupt(digest, `expected SHA-256 ${digest.sha256}, found ${rawSha256}`);
      await to.sync();
      return {
        bytes: frames.reduce((sum, length) => sum + length, 0), sha256: hashes.packed.digest('hex'),
        compressed: { rawBytes: digest.bytes, rawSha256, frames },
      };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Each chunk stands where the one before stood. */
async function* chunksOf(from: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  const memory = Buffer.allocUnsafeSlow(Math.min(FRAME_BYTES, bytes));
  for (let done = 0; done < bytes;) {
    const chunk = memory.subarray(0, bytes - done);
    for (let filled = 0; filled < chunk.length;) {
      const { bytesRead } = await from.read(chunk, filled, chunk.length - filled, done + filled);
      // What was not read stays out of the hash, which tells.
      if (bytesRead === 0) return;
      filled += bytesRead;
    }
    done += chunk.length;
    yield chunk;
  }
}

async function writeWhole(to: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await to.write(bytes, done, bytes.length - done)).bytesWritten;
}

function corrupt({ file }: SegmentDigest, problem: string): GannetError {
  return new GannetError('RECORDING_CORRUPT', `${file}: ${problem}; it stays as it is`, { details: { file } });
}
