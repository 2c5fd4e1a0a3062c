import { closeSync, existsSync, fstatSync, openSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import { GannetError, messageOf } from '../../core/errors.ts';
import { appendCompletely } from '../../recording/files/durable-write.ts';

// A file of lines that grows for months: `run.log`, before it `run.2.log.zst`, and first `run.1.log.zst`.

/** A part of a rolled file. */
interface RolledPart {
  readonly path: string;
  /** 1 is the oldest part ever; Infinity is the file that is appended to. */
  readonly number: number;
}

/** A file of lines that is appended to. */
export interface RolledFile {
  /** Appends a text completely or not at all. Throws the fault of the disk. */
  append(text: string): void;
  /** Closes the file. A part that is being compressed is finished, or stays as it is. */
  close(): void;
}

const PACKED = '.zst';
/** A part that another program made larger is not unpacked. */
const UNPACKED_MAX = 1 << 28;

/**
 * Opens a file that becomes a part at `partBytes` bytes. A part is compressed beside the event loop; where that fails,
 * it stays as it is. With `parts` the oldest ones beyond that number are deleted. Throws the fault of the disk.
 */
export function openRolledFile({ path, partBytes, parts = Infinity }: {
  readonly path: string; readonly partBytes: number; readonly parts?: number | undefined;
}): RolledFile {
  let descriptor = openSync(path, 'a', 0o600);
  let bytes = fstatSync(descriptor).size;
  let packing: Promise<void> = Promise.resolve();

  /** Where the disk takes no new file, the present one goes on. */
  function roll(): void {
    const part = partPath(path, 1 + Math.max(0, ...partsOf(path).map(({ number }) => number).filter(Number.isFinite)));
    let next: number;
    try {
      renameSync(path, part);
    } catch {
      return;
    }
    try {
      next = openSync(path, 'ax', 0o600);
    } catch {
      renameSync(part, path);
      return;
    }
    closeSync(descriptor);
    descriptor = next;
    bytes = 0;
    packing = packing.then(() => pack(part)).then(() => dropOldest());
  }

  async function dropOldest(): Promise<void> {
    const closed = partsOf(path).filter(({ number }) => Number.isFinite(number));
    for (const old of closed.slice(0, Math.max(0, closed.length - parts))) await rm(old.path, { force: true });
  }

  return {
    append: (text) => {
      if (bytes >= partBytes) roll();
      appendCompletely(descriptor, text);
      bytes += Buffer.byteLength(text);
    },
    close: () => { closeSync(descriptor); },
  };
}

const compress = promisify(zstdCompress);

/**
 * Compresses a file into one of the same name with ".zst" and deletes it. At every moment one whole file exists. A
 * fault of the disk leaves the file as it is.
 */
export async function pack(path: string): Promise<void> {
  const unfinished = `${path}${PACKED}.new`;
  try {
    const packed = await compress(await readFile(path));
    const file = await open(unfinished, 'w', 0o600);
    try {
      await file.writeFile(packed);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, `${path}${PACKED}`);
    await rm(path, { force: true });
  } catch {
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
}

function partPath(path: string, number: number): string {
  const extension = extname(path);
  return join(dirname(path), `${basename(path, extension)}.${number}${extension}`);
}

/** Returns the parts of a rolled file, oldest first, each once: compressed where there are both files. */
export function partsOf(path: string): readonly RolledPart[] {
  const [folder, extension] = [dirname(path), extname(path)];
  const stem = `${basename(path, extension)}.`;
  const numbers = new Map<number, string>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const plain = name.endsWith(PACKED) ? name.slice(0, -PACKED.length) : name;
    const middle = plain.slice(stem.length, -extension.length);
    if (!plain.startsWith(stem) || !plain.endsWith(extension) || !/^\d+$/.test(middle)) continue;
    if (!numbers.has(Number(middle)) || name.endsWith(PACKED)) numbers.set(Number(middle), join(folder, name));
  }
  const closed = [...numbers].map(([number, part]) => ({ number, path: part })).sort((a, b) => a.number - b.number);
  return existsSync(path) ? [...closed, { number: Infinity, path }] : closed;
}

/** Returns the text of a part, compressed or not. Throws RECORDING_CORRUPT for a compressed one that is damaged. */
export function readPart({ path }: RolledPart): string {
  const bytes = readFileSync(path);
  if (!path.endsWith(PACKED)) return bytes.toString('utf8');
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: UNPACKED_MAX }).toString('utf8');
  } catch (cause) {
    throw new GannetError('RECORDING_CORRUPT',
      `${path}: expected a zstd file, got: ${messageOf(cause)}; restore the file from a copy`,
      { details: { file: path }, cause });
  }
}
