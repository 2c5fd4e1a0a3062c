import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { SchedulerAction, Subscription } from 'rxjs';
import { messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';

/** The file in the state directory that halts trading while it exists. */
export interface StopFile {
  readonly path: string;
  /** Returns its first line; undefined without the file. A file that cannot be checked counts as present. */
  read(): string | undefined;
}

const NAME = 'STOP';
const CHECK_EVERY_MS: Millis = 1_000;
const SHOWN_BYTES = 1_024;

/** Returns the STOP file of a state directory. */
export function stopFileOf(stateDir: string): StopFile {
  const path = join(stateDir, NAME);
  return {
    path,
    read: () => {
      try {
        lstatSync(path);
      } catch (error) {
        return isMissing(error) ? undefined : `it cannot be read: ${printable(messageOf(error))}`;
      }
      return firstLine(path);
    },
  };
}

/** Checks the file at once and every second, and passes on its first line. */
export function watchStopFile(
  file: StopFile, clock: Clock, onCheck: (reason: string | undefined) => void,
): Subscription {
  onCheck(file.read());
  return clock.schedule(function check(this: SchedulerAction<void>) {
    onCheck(file.read());
    if (!this.closed) this.schedule(undefined, CHECK_EVERY_MS);
  }, CHECK_EVERY_MS);
}

/** Any entry of that name halts; its text is only shown. */
function firstLine(path: string): string {
  let fd: number | undefined;
  try {
    // Without this flag a named pipe would block the daemon.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return '';
    const bytes = Buffer.alloc(SHOWN_BYTES);
    const length = readSync(fd, bytes);
    return printable(bytes.toString('utf8', 0, length).split(/\r?\n/)[0]!.trim());
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
