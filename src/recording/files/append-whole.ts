import { fstatSync, ftruncateSync, writeSync } from 'node:fs';

/**
 * Appends all of it to a file that is open for that or nothing: a disk takes a part of a line before it is full, and
 * the next one would go on in it. Throws what the system says.
 */
export function appendWhole(file: number, text: string | Uint8Array): void {
  const { size } = fstatSync(file);
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}
