import { createHash } from 'node:crypto';
import { closeSync, fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { constants, zstdCompressSync } from 'node:zlib';
import { GannetError, messageOf } from '../../core/errors.ts';
import { writeAll } from '../files/durable-write.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { unpack } from '../segment/segment-file.ts';

/**
 * The compression of segments. Batches of a second are small, and repeated parts are short. Level 1 takes as long and
 * leaves a sixth more; higher levels take twice as long without a gain.
 */
export const ZSTD_OPTIONS =
  { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_minMatch]: 4 } } as const;

/** The properties of a compressed file. */
export type Packed = Required<Pick<SegmentDigest, 'bytes' | 'sha256' | 'compressed'>>;

/** A compressed segment, written from start to end, one frame at a time. Throws the faults of the disk. */
class PackedFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #hash = createHash('sha256');
  readonly #frames: number[] = [];
  #rawBytes = 0;
  #bytes = 0;

  /** Creates the file, which must not exist. */
  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, 'wx', 0o600);
  }

  /** Adds a frame. Each frame but the last holds `FRAME_BYTES` bytes of the Arrow stream. */
  add(stream: Uint8Array): void {
    const frame = zstdCompressSync(stream, ZSTD_OPTIONS);
    checkFrame(this.#path, frame, stream);
    this.#hash.update(frame);
    writeAll(this.#descriptor, frame);
    this.#frames.push(frame.length);
    this.#rawBytes += stream.length;
    this.#bytes += frame.length;
  }

  /** Resolves when the file is synced to the disk. */
  async finish(): Promise<Packed> {
    try {
      await syncFile(this.#descriptor);
    } finally {
      closeSync(this.#descriptor);
    }
    return {
      bytes: this.#bytes, sha256: this.#hash.digest('hex'),
      compressed: { rawBytes: this.#rawBytes, frames: this.#frames },
    };
  }

  /** Closes the unfinished file. */
  abandon(): void {
    closeSync(this.#descriptor);
  }
}

/** Throws RECORDING_CORRUPT unless a frame decompresses to its input, of which there may be no other copy. */
export function checkFrame(file: string, frame: Uint8Array, stream: Uint8Array): void {
  if (unpack(file, frame, stream.length).equals(stream)) return;
  throw new GannetError(
    'RECORDING_CORRUPT', `${file}: expected a frame that holds what went in, found another`, { details: { file } },
  );
}

const syncFile = promisify(fsync);

/** A part of a segment's Arrow stream for one frame; each but the last holds `FRAME_BYTES` bytes. */
export interface StreamPart {
  /** The compressed file, relative to the recording. */
  readonly file: string;
  readonly stream: Uint8Array;
  readonly isLast: boolean;
}

/** The result of a part; after the last part of a file, with the properties of the file. */
export interface PartAnswer {
  readonly file: string;
  /** The length of the part. */
  readonly bytes: number;
  readonly packed?: Packed | undefined;
  readonly fault?: { readonly message: string; readonly code?: string | undefined } | undefined;
}

/**
 * Returns a function that packs parts into the files of a recording, in the order of the calls. A part is in its file
 * when the call returns. The promise of a last part resolves when its file is synced to the disk. It never rejects.
 */
export function packParts(directory: string): (part: StreamPart) => Promise<PartAnswer> {
  const open = new Map<string, PackedFile>();
  const fileOf = (file: string): PackedFile => {
    const known = open.get(file) ?? new PackedFile(`${directory}/${file}`);
    open.set(file, known);
    return known;
  };
  return async ({ file, stream, isLast }) => {
    const bytes = stream.length;
    try {
      const packing = fileOf(file);
      packing.add(stream);
      if (!isLast) return { file, bytes };
      open.delete(file);
      return { file, bytes, packed: await packing.finish() };
    } catch (thrown) {
      open.get(file)?.abandon();
      open.delete(file);
      const code = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
        ? thrown.code : undefined;
      return { file, bytes, fault: { message: messageOf(thrown), code } };
    }
  };
}
