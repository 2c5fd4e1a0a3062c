import { fstatSync, ftruncateSync, writeSync } from 'node:fs';

/** Appends all of it to an open file or nothing: a disk takes a part of a line before it is full. Throws what the system says. */
export function appendWhole(file: number, text: string): void {
  const { size } = fstatSync(file);
  const bytes = Buffer.from(text);
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}
