import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { withoutPruned } from '../pruning.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { compressedName } from '../segment/digest.ts';
import { FRAME_BYTES } from '../segment/segment-file.ts';
import { mergedStream } from './merge.ts';
import { ZSTD_OPTIONS, checkFrame } from './packed-file.ts';

/** Syncing takes most of the time, so one sync serves this many segments. */
const BATCH = 64;
/** The number of threads that Node has for such work. */
const AT_ONCE = 4;

/** The callbacks of a compressor. */
interface CompressorEvents {
  /** Called with new digests; resolves when they are synced to the disk. */
  readonly onCompressed: (digests: readonly SegmentDigest[]) => Promise<void>;
  /** Called when the bytes of a segment contradict its digest (RECORDING_CORRUPT). */
  readonly onDamage: (cause: Error) => void;
}

/**
 * Compresses complete segments beside the event loop. At every instant a complete file and its digest are on the disk:
 * the old file is removed after the digest of the new one is synced.
 */
export class SegmentCompressor {
  readonly #directory: string;
  readonly #events: CompressorEvents;
  /** Complete segments that a fault of the disk left uncompressed. */
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

  /** The number of segments that a fault of the disk left uncompressed, without loss. */
  get left(): number {
    return this.#left.length;
  }

  /** Adds complete segments that are synced to the disk. */
  add(digests: readonly SegmentDigest[]): void {
    this.#waiting.push(...digests);
    if (this.#waiting.length > 0 && !this.#working) {
      this.#working = true;
      this.#work = this.#compressAll();
    }
  }

  /** Starts no further segment. */
  stop(): void {
    this.#waiting.length = 0;
    this.#stopped = true;
  }

  /** Also gives up the segments in progress, which remain as they were. */
  cut(): void {
    this.stop();
    this.#cut.abort();
  }

  /** Resolves when no work is in progress. */
  idle(): Promise<void> {
    return this.#work;
  }

  /** Tries the segments again that a fault of the disk left. Resolves when all were tried. */
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
    // A fault here only leaves an extra file, because the digest names the new one.
    for (const { digest } of done)
      await rm(`${this.#directory}/${digest.file}`, { force: true }).catch(() => undefined);
  }

  /** An uncompressed segment is only larger, so a fault of the disk here does not end the recording. */
  async #compress(digest: SegmentDigest): Promise<SegmentDigest | undefined> {
    try {
      return await compressSegment(this.#directory, digest, this.#cut.signal);
    } catch (cause) {
      // The retention may delete an hour before it is compressed.
      if (withoutPruned(this.#directory, [digest]).length === 0) return undefined;
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
 * Compresses a complete segment into a file beside it, one zstd frame for each MiB, so that any decompressor restores
 * the Arrow stream. Resolves with the digest when the bytes are synced and the file has its name, which the next sync
 * of the folder makes durable. The old file remains. Rejects with RECORDING_CORRUPT where the bytes contradict the
 * digest, with faults of the disk, and with the reason of `cut` some frames after it is aborted. A failure leaves no
 * new file.
 */
async function compressSegment(
  directory: string, digest: SegmentDigest, cut?: AbortSignal,
): Promise<SegmentDigest> {
  const file = compressedName(digest.file);
  const path = `${directory}/${file}`;
  const unfinished = `${path}.new`;
  try {
    const written = await copyInFrames({ directory, target: unfinished }, digest, cut);
    await rename(unfinished, path);
    return { ...digest, file, ...written };
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw cause;
  }
}

/** Small batches repeat so much that a slower compression gains. */
const MERGED_OPTIONS = { params: { ...ZSTD_OPTIONS.params, [constants.ZSTD_c_compressionLevel]: 19 } } as const;

async function copyInFrames(
  { directory, target }: { readonly directory: string; readonly target: string }, digest: SegmentDigest,
  cut: AbortSignal | undefined,
): Promise<Pick<SegmentDigest, 'bytes' | 'sha256' | 'compressed'>> {
  const merged = await mergedStream(directory, digest, cut);
  const from = await open(`${directory}/${digest.file}`, 'r');
  try {
    const to = await open(target, 'w', 0o600);
    try {
      const hashes = { raw: createHash('sha256'), packed: createHash('sha256') };
      const frames: number[] = [];
      for await (const chunk of merged === undefined ? chunksOf(from, digest.bytes) : framesOf(merged)) {
        cut?.throwIfAborted();
        hashes.raw.update(chunk);
        const frame = await compress(chunk, merged === undefined ? ZSTD_OPTIONS : MERGED_OPTIONS);
        checkFrame(target, frame, chunk);
        hashes.packed.update(frame);
        frames.push(frame.length);
        await writeWhole(to, frame);
      }
      const rawSha256 = merged === undefined ? hashes.raw.digest('hex') : digest.sha256;
      if (rawSha256 !== digest.sha256) throw corrupt(digest, `expected SHA-256 ${digest.sha256}, found ${rawSha256}`);
      await to.sync();
      return {
        bytes: frames.reduce((sum, length) => sum + length, 0), sha256: hashes.packed.digest('hex'),
        compressed: {
          rawBytes: merged?.length ?? digest.bytes, rawSha256, frames,
          ...(merged === undefined ? {} : { unmergedBytes: digest.bytes }),
        },
      };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

function* framesOf(stream: Uint8Array): Generator<Uint8Array> {
  for (let done = 0; done < stream.length; done += FRAME_BYTES) yield stream.subarray(done, done + FRAME_BYTES);
}

/** Each chunk reuses the memory of the one before. */
async function* chunksOf(from: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  const memory = Buffer.allocUnsafeSlow(Math.min(FRAME_BYTES, bytes));
  for (let done = 0; done < bytes;) {
    const chunk = memory.subarray(0, bytes - done);
    for (let filled = 0; filled < chunk.length;) {
      const { bytesRead } = await from.read(chunk, filled, chunk.length - filled, done + filled);
      // Missing bytes change the hash, which reveals them.
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
