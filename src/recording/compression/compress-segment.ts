import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { GannetError } from '../../core/errors.ts';
import { checkFrame, ZSTD_OPTIONS } from './packed-file.ts';
import type { SegmentDigest } from '../segment/digest.ts';
import { FRAME_BYTES } from '../segment/segment-file.ts';
import { compressedName } from '../segment/name.ts';

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
