import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Millis } from '../../core/time.ts';

/** A file with its size and the time of its last change. */
interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly changedAt: Millis;
}

/** Returns the files of a folder by name, none where it is missing. A file that goes meanwhile is left out. */
export async function filesIn(folder: string): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const stats = await statsOf(path);
    if (stats?.isFile() === true) found.push({ name, path, size: stats.size, changedAt: stats.mtimeMs });
  }
  return found;
}

/** Returns the size of all files below a folder in bytes, and the time of the last change of any. */
export async function sizeOfFolder(folder: string): Promise<{ readonly bytes: number; readonly changedAt: Millis }> {
  let bytes = 0;
  let changedAt = 0;
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const stats = await statsOf(path);
    if (stats === undefined) continue;
    const inner = stats.isDirectory() ? await sizeOfFolder(path) : { bytes: stats.size, changedAt: stats.mtimeMs };
    bytes += inner.bytes;
    changedAt = Math.max(changedAt, inner.changedAt);
  }
  return { bytes, changedAt };
}

/** Returns the names in a folder in their order, none where it is missing. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
