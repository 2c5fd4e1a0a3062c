import { existsSync, readFileSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GannetError } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { replaceFile } from './files/durable-write.ts';
import { filesIn } from './files/folder-files.ts';
import { RECORDING_KINDS } from './format.ts';
import type { SegmentDigest } from './segment/digest.ts';

/** The file in the folder of a recording that names the first hour that was not deleted. */
export const PRUNED_FILE = 'pruned.json';
/** The file with which a person keeps a recording or a run from being deleted. */
export const KEEP_FILE = 'keep';
const HOUR = /^\d{4}-\d\d-\d\dT\d\d$/;
const HOUR_NAME_LENGTH = 13;

/** Returns the UTC hour before which the hours of a recording were deleted; undefined for a whole recording. */
export function prunedBefore(directory: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, PRUNED_FILE), 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
      return undefined;
    throw cause;
  }
  const before = beforeIn(text);
  if (before !== undefined) return before;
  throw new GannetError('RECORDING_CORRUPT', `${join(directory, PRUNED_FILE)}: expected the hour before which the `
    + 'recording was deleted; restore the file from a copy', { details: { file: PRUNED_FILE } });
}

function beforeIn(text: string): string | undefined {
  try {
    const json = parseJson(text);
    const before = typeof json === 'object' && json !== null && 'before' in json ? json['before'] : undefined;
    return typeof before === 'string' && HOUR.test(before) ? before : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the digests of the hours that were not deleted. */
export function withoutPruned<T extends Pick<SegmentDigest, 'file'>>(
  directory: string, digests: readonly T[],
): readonly T[] {
  const before = prunedBefore(directory);
  return before === undefined ? digests : digests.filter(({ file }) => hourOf(file) >= before);
}

/** Returns the hour in the name of a segment. */
function hourOf(file: string): string {
  return basename(file).slice(0, HOUR_NAME_LENGTH);
}

/** Throws RECORDING_PRUNED where hours of a recording were deleted; `what` needs all of it. */
export function refusePruned(directory: string, what: string): void {
  const before = prunedBefore(directory);
  if (before === undefined) return;
  throw new GannetError('RECORDING_PRUNED',
    `${directory}: its hours before ${before.replace('T', ' ')}:00 UTC were deleted by the retention, and `
      + `${what} needs all of it. To keep recordings longer, raise "retention.recordings" in the configuration, or pin `
      + 'one with "gannet recording keep"',
    { details: { directory, before } });
}

/**
 * Returns the error for a segment that the retention deleted while it was read; undefined where a fault has another
 * reason.
 */
export function prunedWhileRead(directory: string, file: string, fault: unknown): GannetError | undefined {
  if (!(fault instanceof Error && 'code' in fault && fault.code === 'ENOENT')) return undefined;
  if (existsSync(directory) && hourOf(file) >= (prunedBefore(directory) ?? '')) return undefined;
  return new GannetError('RECORDING_PRUNED', `${directory}: the retention deleted ${file} while it was read. Start `
    + 'again with what is left, and pin a recording that is needed for long with "gannet recording keep"',
  { details: { directory, file }, cause: fault });
}

/** An hour of a recording on disk. */
interface RecordedHour {
  /** UTC, as in file names. */
  readonly hour: string;
  /** The end of the hour. */
  readonly until: Millis;
  readonly bytes: number;
}

/**
 * Deletes the hours of a recording before an hour, one file at a time, and resolves with the number of bytes. The
 * recording says so before the first file goes, so readers leave them out at every moment. The writer may go on.
 */
export async function pruneHours(directory: string, before: string): Promise<number> {
  const known = prunedBefore(directory);
  if (known === undefined || known < before)
    replaceFile(directory, PRUNED_FILE, `${stringifyJson({ before })}\n`);
  let bytes = 0;
  for await (const { path, hour, size } of segmentFiles(directory)) {
    if (hour >= before) continue;
    await unlink(path);
    bytes += size;
  }
  return bytes;
}

/** Returns the hours of a recording with their sizes, oldest first. */
export async function recordedHours(directory: string): Promise<readonly RecordedHour[]> {
  const hours = new Map<string, number>();
  for await (const { hour, size } of segmentFiles(directory)) hours.set(hour, (hours.get(hour) ?? 0) + size);
  return [...hours].map(([hour, bytes]) => ({ hour, bytes, until: Date.parse(`${hour}:00:00Z`) + HOUR_MS }))
    .sort((a, b) => a.until - b.until);
}

const HOUR_MS: Millis = 3_600_000;

async function* segmentFiles(
  directory: string,
): AsyncGenerator<{ readonly path: string; readonly hour: string; readonly size: number }> {
  for (const kind of RECORDING_KINDS) {
    for (const { name, path, size } of await filesIn(join(directory, kind))) {
      const hour = hourOf(name);
      if (HOUR.test(hour)) yield { path, hour, size };
    }
  }
}
