import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { GannetError, messageOf } from '../../core/errors.ts';
import type { FileLock } from '../../core/file-lock.ts';
import { takeFileLock } from '../../core/file-lock.ts';
import { writeAll } from '../files/durable-write.ts';

/** What stands behind a file's name until it is whole, and behind that one's while somebody writes it. */
const UNFINISHED = '.new';
const LOCK = '.lock';

/**
 * A file in the making, under another name until it is published: there is never a part of it under its own. What a
 * process left behind that was killed over it is written over; its lock beside it says that it was one.
 * Throws USAGE where the file is there, cannot be made, or is being made, and RECORDING_WRITE_FAILED where the disk
 * fails it.
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

  /** Waits for the disk to have all of it. */
  finish(): void {
    onDisk(() => { fsyncSync(this.#descriptor); });
    this.#close();
  }

  /** Gives the file its name, which the folder's next sync makes last. */
  publish(): void {
    refuseExisting(this.path);
    onDisk(() => { renameSync(this.path + UNFINISHED, this.path); });
    this.#isPublished = true;
    this.#lock.release();
  }

  /** Leaves nothing of a file that is not published; one that is stays. */
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

/** Throws USAGE where a file is there. */
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
