import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { DIGESTS_FILE } from './format.ts';
import type { Recording } from './reader.ts';

/** Enough for a line, which holds a file name and two dozen numbers. */
const FIRST_LINE_BYTES = 1 << 16;

/**
 * Returns the identity of a recording, independent of its name and place: the id from its start, which stays the same
 * while it grows and when it is closed; without one, the identity of its content.
 */
export function recordingIdentity(recording: Pick<Recording, 'directory' | 'manifest'>): string {
  return recording.manifest.id ?? contentIdentity(recording);
}

/**
 * Returns the identity of a content: the hash of the digests, and for an unclosed recording the hash of its time and
 * first digest.
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
