import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { writeAll } from '../segment/segment-writer.ts';

/**
 * Writes a file of a folder anew: the old one or the new one is there at every instant, never a part. Throws what the
 * disk throws.
 */
export function replaceFile(directory: string, file: string, text: string): void {
  const target = `${directory}/${file}`;
  const descriptor = openSync(`${target}.new`, 'w', 0o600);
  try {
    writeAll(descriptor, Buffer.from(text));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${target}.new`, target);
  syncFolder(directory);
}

/** Puts the names in a folder on the disk itself. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
