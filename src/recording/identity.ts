import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { DIGESTS_FILE } from './format.ts';
import type { Recording } from './reader.ts';

/** A line names one file, the length of its name and of two dozen numbers. */
const FIRST_LINE_BYTES = 1 << 16;

/**
 * Returns what says which recording it is, whatever its name and place: the id that it was given as it was begun, so
 * that it stays the same while it grows and when it is closed; of one without, its content.
 */
export function recordingIdentity(recording: Pick<Recording, 'directory' | 'manifest'>): string {
  return recording.manifest.id ?? contentIdentity(recording);
}

/**
 * Returns what says what is in a recording: the hash of its digests; where it was never closed, of the time and the
 * first digest that it began with, to which what was recorded since is to be added.
 */
export function contentIdentity({ directory, manifest }: Pick<Recording, 'directory' | 'manifest'>): string {
  return manifest.digestsSha256
    ?? createHash('sha256').update(`${manifest.createdAt}\n${firstLine(join(directory, DIGESTS_FILE))}`).digest('hex');
}

function firstLine(path: string): string {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes)).split('\n', 1)[0]!;
  } finally {
    closeSync(descriptor);
  }
}
