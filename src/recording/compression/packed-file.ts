import { createHash } from 'node:crypto';
import { closeSync, fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { constants, zstdCompressSync } from 'node:zlib';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { unpack } from '../segment/segment-file.ts';
import { writeAll } from '../files/durable-write.ts';

/**
 * How segments are compressed: batches of a second are small, and what repeats from one to the next is short. Level 1
 * takes as long for them, and leaves a sixth more; higher levels take twice as long for nothing.
 */
export const ZSTD_OPTIONS =
  { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_minMatch]: 4 } } as const;

/** What is known of a compressed file alone. */
export type Packed = Required<Pick<SegmentDigest, 'bytes' | 'sha256' | 'compressed'>>;

/**
 * A compressed segment that is written from its beginning to its end, a frame at a time. Faults of the disk are thrown
 * as they come.
 */
export class PackedFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #hash = createHash('sha256');
  readonly #frames: number[] = [];
  #rawBytes = 0;
  #bytes = 0;

  /** Begins a file that must not be there yet. */
  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, 'wx', 0o600);
  }

  /** Adds a frame. Of the Arrow stream each but the last holds `FRAME_BYTES` bytes. */
  add(stream: Uint8Array): void {
    const frame = zstdCompressSync(stream, ZSTD_OPTIONS);
    checkFrame(this.#path, frame, stream);
    this.#hash.update(frame);
    writeAll(this.#descriptor, frame);
    this.#frames.push(frame.length);
    this.#rawBytes += stream.length;
    this.#bytes += frame.length;
  }

  /** Resolves when all of it is on the disk itself. */
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

  /** Leaves it as it is. */
  abandon(): void {
    closeSync(this.#descriptor);
  }
}

/** Throws RECORDING_CORRUPT unless a frame holds what went into it: there may be no other copy. */
export function checkFrame(file: string, frame: Uint8Array, stream: Uint8Array): void {
  if (unpack(file, frame, stream.length).equals(stream)) return;
  throw new GannetError(
    'RECORDING_CORRUPT', `${file}: expected a frame that holds what went in, found another`, { details: { file } },
  );
}

const syncFile = promisify(fsync);

/** A frame's worth of a segment's Arrow stream; each but the last holds `FRAME_BYTES` bytes. */
export interface StreamPart {
  /** The compressed file, relative to the recording. */
  readonly file: string;
  readonly stream: Uint8Array;
  readonly isLast: boolean;
}

/** What became of a part: of the last one of a file, what is known of the file. */
export interface PartAnswer {
  readonly file: string;
  /** Of the part. */
  readonly bytes: number;
  readonly packed?: Packed | undefined;
  readonly fault?: { readonly message: string; readonly code?: string | undefined } | undefined;
}

/**
 * Returns what packs parts into the files of a recording, in the order in which they are given. A part is in its file
 * when the call returns; the promise of a last one resolves when its file is on the disk itself. It never rejects.
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
