import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { Token } from '../market/token.ts';
import { DigestLog } from './segment/digest-log.ts';
import { createRecordingFolder } from './files/new-folder.ts';
import type { FileLock } from '../core/file-lock.ts';
import { isFileLocked, takeFileLock } from '../core/file-lock.ts';
import type { RecordingSource } from './format.ts';
import { DIGESTS_FILE, MANIFEST_FILE, RECORDING_FORMAT, WATCHED, WRITER_LOCK_FILE } from './format.ts';
import type { RecordingManifest } from './manifest.ts';
import { formatManifest, totalsOf } from './manifest.ts';
import { replaceFile, writeFault } from './files/durable-write.ts';
import type { DigestLine, SegmentDigest } from './segment/digest.ts';
import { formatDigestLine } from './segment/digest.ts';
import { rmSync } from 'node:fs';
import { isGannetError } from '../core/errors.ts';

/** A new recording's folder with what it says of itself. */
export class RecordingFiles {
  readonly directory: string;
  readonly #createdAt: Millis;
  readonly #source: RecordingSource;
  readonly #tokens: readonly Token[];
  /** So that nobody takes what is being written for what a dead writer left. The folder is new: nobody else has it. */
  readonly #lock: FileLock | undefined;
  readonly #digests: DigestLog;
  readonly #feeds = new Set<FeedKey>();

  /**
   * Makes the folder and takes the sole right to change it, with a manifest that says that it is being written. Throws
   * RECORDING_WRITE_FAILED where it cannot, or a folder of this name is there.
   */
  constructor({ dir, name, createdAt, tokens, source = WATCHED, digestSlackBytes }: {
    readonly dir: string;
    readonly name?: string | undefined;
    readonly createdAt: Millis;
    readonly tokens: readonly Token[];
    readonly source?: RecordingSource | undefined;
    readonly digestSlackBytes?: number | undefined;
  }) {
    this.#createdAt = createdAt;
    this.#source = source;
    this.#tokens = tokens;
    try {
      this.directory = createRecordingFolder(dir, name, createdAt);
      this.#lock = lockNewRecording(this.directory);
      this.#digests = new DigestLog(this.directory, digestSlackBytes);
      replaceFile(this.directory, MANIFEST_FILE, formatManifest(this.manifest([])));
    } catch (cause) {
      throw writeFault(dir, cause);
    }
  }

  /** Adds lines to the digests: what they speak of is written. */
  write(lines: readonly DigestLine[]): void {
    this.#digests.append(lines);
    for (const { newFeeds } of lines) this.meet(newFeeds);
  }

  /** Takes note of feeds, in the order in which they are to stand in the manifest. */
  meet(feeds: readonly FeedKey[]): void {
    for (const feed of feeds) this.#feeds.add(feed);
  }

  /** Resolves when the digests are on the disk itself. */
  sync(): Promise<void> {
    return this.#digests.sync();
  }

  /** Takes out what is said of files that others stand for now, once it is much. Never rejects. */
  async tidy(isSettled: (file: string) => boolean): Promise<void> {
    await this.#digests.tidy(isSettled);
  }

  /** Writes the last word on segments that are on the disk itself: what digests say that is no longer of use goes. */
  finish(segments: readonly SegmentDigest[], endedAt: Millis): RecordingManifest {
    // Whoever dies before the manifest leaves no other word of the feeds.
    const lines =
      segments.map((digest, i) => formatDigestLine({ ...digest, newFeeds: i === 0 ? [...this.#feeds] : [] })).join('');
    replaceFile(this.directory, DIGESTS_FILE, lines);
    const manifest =
      this.manifest(segments, { endedAt, digestsSha256: createHash('sha256').update(lines).digest('hex') });
    replaceFile(this.directory, MANIFEST_FILE, formatManifest(manifest));
    return manifest;
  }

  /** Returns what the recording says of itself: without an end, that it is not closed. */
  manifest(
    segments: readonly SegmentDigest[], end?: { readonly endedAt: Millis; readonly digestsSha256: string },
  ): RecordingManifest {
    return {
      formatVersion: RECORDING_FORMAT.version,
      closed: end !== undefined,
      source: this.#source,
      // What is made or imported twice is the same recording; what was watched is one for good.
      id: this.#source.kind === 'watched'
        ? createHash('sha256').update(`${this.#createdAt}\n${basename(this.directory)}`).digest('hex') : undefined,
      createdAt: this.#createdAt,
      endedAt: end?.endedAt,
      node: process.version,
      arch: process.arch,
      tokens: this.#tokens,
      feeds: [...this.#feeds],
      kinds: totalsOf(segments).kinds,
      files: segments,
      digestsSha256: end?.digestsSha256,
    };
  }

  close(): void {
    this.#digests.close();
    this.#lock?.release();
  }
}

/** Takes the sole right to change a recording. Returns undefined where somebody has it. Throws what the disk throws. */
export function takeWriterLock(directory: string): FileLock | undefined {
  return takeFileLock(`${directory}/${WRITER_LOCK_FILE}`);
}

/**
 * Takes the sole right to change a recording whose folder was made just now: nobody else has it. Where the disk has no
 * locks, none is held and no file speaks of one; nobody else gets one there either, so nothing is compressed that is
 * being written.
 */
export function lockNewRecording(directory: string): FileLock | undefined {
  try {
    return takeWriterLock(directory);
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'FEATURE_UNAVAILABLE') throw error;
    rmSync(`${directory}/${WRITER_LOCK_FILE}`, { force: true });
    return undefined;
  }
}

/** Returns whether somebody writes to a recording. Nothing is changed by asking. */
export function isBeingWritten(directory: string): boolean {
  return isFileLocked(`${directory}/${WRITER_LOCK_FILE}`);
}
