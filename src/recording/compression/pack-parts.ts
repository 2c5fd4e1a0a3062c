import { messageOf } from '../../core/errors.ts';
import type { Packed } from './packed-file.ts';
import { PackedFile } from './packed-file.ts';

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
