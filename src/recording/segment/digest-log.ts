import { closeSync, fdatasync, fdatasyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { appendCompletely, syncFolder, writeAll } from '../files/durable-write.ts';
import { DIGESTS_FILE } from '../format.ts';
import type { DigestLine } from './digest.ts';
import { formatDigestLine } from './digest.ts';

const SLACK_BYTES = 1 << 18;

/** The digest file of a recording that is being written. Throws the faults of the disk. */
export class DigestLog {
  readonly #directory: string;
  readonly #path: string;
  readonly #syncs = new Set<Promise<void>>();
  #descriptor: number;
  #bytes = 0;
  readonly #slackBytes: number;
  #tidyAt: number;

  /**
   * Creates the file, which must not exist. Up to `slackBytes` of superseded lines are kept before they are removed.
   */
  constructor(directory: string, slackBytes = SLACK_BYTES) {
    this.#directory = directory;
    this.#slackBytes = this.#tidyAt = slackBytes;
    this.#path = `${directory}/${DIGESTS_FILE}`;
    this.#descriptor = openSync(this.#path, 'ax', 0o600);
  }

  /** Adds digests of written bytes, all or none. */
  append(lines: readonly DigestLine[]): void {
    const bytes = Buffer.from(lines.map(formatDigestLine).join(''));
    appendCompletely(this.#descriptor, bytes);
    this.#bytes += bytes.length;
  }

  /** Resolves when the lines so far are synced to the disk. */
  async sync(): Promise<void> {
    const sync = syncData(this.#descriptor);
    this.#syncs.add(sync);
    try {
      await sync;
    } finally {
      this.#syncs.delete(sync);
    }
  }

  /**
   * Removes the lines of settled files once there are many: the last line of a segment supersedes them. One line a
   * second would make gigabytes in a run of months. The first line remains, because it identifies the recording. On a
   * fault of the disk all lines remain.
   */
  async tidy(isSettled: (file: string) => boolean): Promise<void> {
    if (this.#bytes < this.#tidyAt) return;
    const unfinished = `${this.#path}.new`;
    let descriptor: number | undefined;
    try {
      const before = this.#bytes;
      const kept = linesKept((await readFile(this.#path)).subarray(0, before), isSettled);
      rmSync(unfinished, { force: true });
      descriptor = openSync(unfinished, 'a', 0o600);
      writeAll(descriptor, kept);
      await syncData(descriptor);
      // From here on the code is synchronous, so that no line is added until the new file has the name.
      const since = readFileSync(this.#path).subarray(before);
      writeAll(descriptor, since);
      fdatasyncSync(descriptor);
      renameSync(unfinished, this.#path);
      const old = this.#descriptor;
      this.#descriptor = descriptor;
      this.#bytes = kept.length + since.length;
      await Promise.allSettled(this.#syncs);
      closeSync(old);
      syncFolder(this.#directory);
    } catch {
      if (descriptor !== undefined && descriptor !== this.#descriptor) closeSync(descriptor);
      rmSync(unfinished, { force: true });
    }
    this.#tidyAt = 2 * this.#bytes + this.#slackBytes;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

const FILE = /^\{"file":"([^"]+)"/;

function linesKept(bytes: Buffer, isSettled: (file: string) => boolean): Buffer {
  const lines = bytes.toString('utf8').split('\n');
  const kept = lines.filter((line, index) => index === 0 || line === '' || !isSettled(FILE.exec(line)?.[1] ?? ''));
  return Buffer.from(kept.join('\n'));
}

const syncData = promisify(fdatasync);
