import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { isGannetError } from '../core/errors.ts';
import type { FileLock } from '../core/file-lock.ts';
import { isFileLocked, takeFileLock } from '../core/file-lock.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { Token } from '../market/token.ts';
import { replaceFile, writeFault } from './files/durable-write.ts';
import { createRecordingFolder } from './files/new-folder.ts';
import type { RecordingSource } from './format.ts';
import { DIGESTS_FILE, MANIFEST_FILE, RECORDING_FORMAT, WATCHED, WRITER_LOCK_FILE } from './format.ts';
import type { RecordingManifest } from './manifest.ts';
import { formatManifest, totalsOf } from './manifest.ts';
import { DigestLog } from './segment/digest-log.ts';
import type { DigestLine, SegmentDigest } from './segment/digest.ts';
import { formatDigestLine } from './segment/digest.ts';

/** The folder of a new recording with its manifest, digests and lock. */
export class RecordingFiles {
  readonly directory: string;
  readonly #createdAt: Millis;
  readonly #source: RecordingSource;
  readonly #tokens: readonly Token[];
  /** Marks the recording as being written, so that it is not taken for that of a dead writer. */
  readonly #lock: FileLock | undefined;
  readonly #digests: DigestLog;
  readonly #feeds = new Set<FeedKey>();

  /**
   * Creates the folder, takes the writer lock, and writes a manifest of an open recording. Throws
   * RECORDING_WRITE_FAILED where it cannot, or where a folder of this name exists.
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

  /** Adds digests of written bytes. */
  write(lines: readonly DigestLine[]): void {
    this.#digests.append(lines);
    for (const { newFeeds } of lines) this.meet(newFeeds);
  }

  /** Adds feeds, in their order in the manifest. */
  meet(feeds: readonly FeedKey[]): void {
    for (const feed of feeds) this.#feeds.add(feed);
  }

  /** Resolves when the digests are synced to the disk. */
  sync(): Promise<void> {
    return this.#digests.sync();
  }

  /** Removes superseded digests once there are many. Never rejects. */
  async tidy(isSettled: (file: string) => boolean): Promise<void> {
    await this.#digests.tidy(isSettled);
  }

  /** Writes the final digests and manifest for segments that are synced to the disk. */
  finish(segments: readonly SegmentDigest[], endedAt: Millis): RecordingManifest {
    // If the writer dies before the manifest is written, only the digests name the feeds.
    const lines =
      segments.map((digest, i) => formatDigestLine({ ...digest, newFeeds: i === 0 ? [...this.#feeds] : [] })).join('');
    replaceFile(this.directory, DIGESTS_FILE, lines);
    const manifest =
      this.manifest(segments, { endedAt, digestsSha256: createHash('sha256').update(lines).digest('hex') });
    replaceFile(this.directory, MANIFEST_FILE, formatManifest(manifest));
    return manifest;
  }

  /** Returns the manifest; without an end that of an open recording. */
  manifest(
    segments: readonly SegmentDigest[], end?: { readonly endedAt: Millis; readonly digestsSha256: string },
  ): RecordingManifest {
    return {
      formatVersion: RECORDING_FORMAT.version,
      closed: end !== undefined,
      source: this.#source,
      // A generated or imported recording has the identity of its content, a live one an id of its own.
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

/**
 * Takes the writer lock of a recording. Returns undefined where another process has it. Throws the fault of the disk.
 */
export function takeWriterLock(directory: string): FileLock | undefined {
  return takeFileLock(`${directory}/${WRITER_LOCK_FILE}`);
}

/**
 * Takes the writer lock of a new recording. On a disk without locks there is none, and no lock file: no other process
 * gets one there either, so a recording is never compressed while it is written.
 */
function lockNewRecording(directory: string): FileLock | undefined {
  try {
    return takeWriterLock(directory);
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'FEATURE_UNAVAILABLE') throw error;
    rmSync(`${directory}/${WRITER_LOCK_FILE}`, { force: true });
    return undefined;
  }
}

/** Returns whether a recording is being written, without changing anything. */
export function isBeingWritten(directory: string): boolean {
  return isFileLocked(`${directory}/${WRITER_LOCK_FILE}`);
}
