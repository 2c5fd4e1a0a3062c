import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { SchedulerAction, Subscription } from 'rxjs';
import { messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';

/** The file in the state directory whose presence halts. */
export interface StopFile {
  readonly path: string;
  /** Returns what its first line says, undefined where there is none. One that cannot be looked at is there. */
  read(): string | undefined;
}

const NAME = 'STOP';
const LOOK_EVERY_MS: Millis = 1_000;
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
        return isMissing(error) ? undefined : `it cannot be looked at: ${printable(messageOf(error))}`;
      }
      return firstLine(path);
    },
  };
}

/** Looks at once and every second, and hands over what was found. Returns how to end it. */
export function watchStopFile(file: StopFile, clock: Clock, onLook: (reason: string | undefined) => void): Subscription {
  onLook(file.read());
  return clock.schedule(function look(this: SchedulerAction<void>) {
    onLook(file.read());
    if (!this.closed) this.schedule(undefined, LOOK_EVERY_MS);
  }, LOOK_EVERY_MS);
}

/** Whatever lies there halts; what it says is only shown. */
function firstLine(path: string): string {
  let fd: number | undefined;
  try {
    // A pipe put there must not make the daemon wait.
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
