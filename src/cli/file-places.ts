import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';

/** The type of the file systems that show processes as files and take no others. */
const PROCESS_FILES = 0x9f_a0;

const FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied', EPERM: 'permission denied', EROFS: 'nothing can be written there', EISDIR: 'it is a folder', ENOENT: 'there is no such file',
  ENOTDIR: 'a part of the path is a file, not a folder', ENOSPC: 'the disk is full', ENAMETOOLONG: 'the name is too long', ELOOP: 'its links lead round in a circle',
};

/** Returns the error for a file that cannot be read: which, and why. */
export function unreadable(file: string, cause: unknown): GannetError {
  return new GannetError('USAGE', `${file === '-' ? 'standard input' : printable(file)} cannot be read: ${faultText(cause)}`, { cause });
}

/** Throws USAGE where a folder can never be made. Without that, making it with all above it never ends there: the platform tries for ever. */
export function refuseUnmakable(folder: string, option: string): void {
  let place = resolve(folder);
  if (existsSync(place)) return;
  while (!existsSync(place)) place = dirname(place);
  if (statfsSync(place).type === PROCESS_FILES) throw new GannetError('USAGE', `${option} ${printable(folder)} cannot be made: ${place} takes no folders; name another place`);
}

/** Makes the folder of a file that is to be written in the end. Throws USAGE where the file could not be written: before the work, not after it. */
export function makeRoomFor(file: string, option: string): void {
  const refused = (why: string, cause?: unknown): GannetError => new GannetError('USAGE', `${option} ${printable(file)} cannot be written: ${why}; name another file`, { cause });
  const path = resolve(file);
  const folder = dirname(path);
  refuseUnmakable(folder, option);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw refused(faultText(cause), cause);
  }
  const kind = existsSync(path) ? statSync(path) : undefined;
  if (kind?.isDirectory() === true) throw refused('it is a folder');
  // A report takes the place of what is there: /dev/null would be a file from then on.
  if (kind?.isFile() === false) throw refused('it is a pipe or a device');
  if (statfsSync(folder).type === PROCESS_FILES) throw refused(`${folder} takes no files`);
}

/** Returns in plain words why the system refused something, its own words where there are none. */
export function faultText(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? FAULTS[String(cause.code)] : undefined;
  return code ?? printable(messageOf(cause));
}
