import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { FileLock } from '../../core/file-lock.ts';
import { takeFileLock } from '../../core/file-lock.ts';
import { writeAll } from '../files/durable-write.ts';

/** The suffix of an unfinished file, and the suffix of its lock. */
const UNFINISHED = '.new';
const LOCK = '.lock';

/**
 * A file under a temporary name until it is published, so that its own name never holds a part of it. An unfinished
 * file of a killed process is overwritten; the lock beside it identifies it. Throws USAGE where the file exists, cannot
 * be created, or is being written, and RECORDING_WRITE_FAILED for faults of the disk.
 */
export class UnfinishedFile {
  readonly path: string;
  readonly #lock: FileLock;
  readonly #descriptor: number;
  #isOpen = true;
  #isPublished = false;

  constructor(path: string) {
    this.path = path;
    refuseExisting(path);
    const unfinished = path + UNFINISHED;
    const isLeftBehind = existsSync(unfinished + LOCK);
    this.#lock = lockOf(unfinished);
    try {
      this.#descriptor = openSync(unfinished, isLeftBehind ? 'w' : 'wx', 0o644);
    } catch (cause) {
      this.#lock.release();
      throw cannotMake(unfinished, `${messageOf(cause)}; remove the file, or give another name`, cause);
    }
  }

  write(bytes: Uint8Array): void {
    onDisk(() => { writeAll(this.#descriptor, bytes); });
  }

  /** Syncs the file to the disk. */
  finish(): void {
    onDisk(() => { fsyncSync(this.#descriptor); });
    this.#close();
  }

  /** Gives the file its final name, which the next sync of the folder makes durable. */
  publish(): void {
    refuseExisting(this.path);
    onDisk(() => { renameSync(this.path + UNFINISHED, this.path); });
    this.#isPublished = true;
    this.#lock.release();
  }

  /** Removes the file unless it is published. */
  discard(): void {
    if (this.#isPublished) return;
    this.#close();
    rmSync(this.path + UNFINISHED, { force: true });
    this.#lock.release();
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }
}

/** Throws USAGE where the file exists. */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw new GannetError(
    'USAGE', `expected a file to write that is not there yet, found ${path}; give another name with --out`,
  );
}

function lockOf(unfinished: string): FileLock {
  let lock: FileLock | undefined;
  try {
    lock = takeFileLock(unfinished + LOCK);
  } catch (cause) {
    throw cannotMake(unfinished, `${messageOf(cause)}; give a place that can be written to`, cause);
  }
  if (lock === undefined)
    throw cannotMake(unfinished, 'another export is writing it; wait for that one, or give another name');
  return lock;
}

function cannotMake(unfinished: string, problem: string, cause?: unknown): GannetError {
  return new GannetError(
    'USAGE', `expected to make ${unfinished}, which stands for the export until it is whole: ${problem}`, { cause },
  );
}

function onDisk(work: () => void): void {
  try {
    work();
  } catch (cause) {
    throw new GannetError(
      'RECORDING_WRITE_FAILED',
      `the export cannot be written: ${messageOf(cause)}; free space, or give another place with --out`, { cause },
    );
  }
}
