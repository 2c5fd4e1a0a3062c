import { close, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { GannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

const FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied', EPERM: 'permission denied', EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder', ENOENT: 'there is no such file', ENOTDIR: 'a part of the path is a file, not a folder',
  ENOSPC: 'the disk is full', ENAMETOOLONG: 'the name is too long', ELOOP: 'its links form a loop',
};

/** Returns the reason of a system error in plain words, else its message. */
export function faultText(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? FAULTS[String(cause.code)] : undefined;
  return code ?? printable(messageOf(cause));
}

/** Returns the error for a file that cannot be read, with the reason. */
export function unreadable(file: string, cause: unknown): GannetError {
  return new GannetError(
    'USAGE', `${file === '-' ? 'standard input' : printable(file)} cannot be read: ${faultText(cause)}`, { cause },
  );
}

/**
 * Returns a stream of a file or a pipe, or standard input for "-". A pipe is opened without waiting for its writer, so
 * that an interrupt ends the wait. A device is refused, because it has no end. Throws USAGE.
 */
export function openInput(file: string): Readable {
  if (file === '-') return process.stdin;
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const kind = fstatSync(fd);
  if (kind.isFile()) return createReadStream('', { fd });
  if (kind.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  close(fd);
  throw new GannetError(
    'USAGE', `${printable(file)}: expected a file or a pipe, got ${kind.isDirectory() ? 'a folder' : 'a device'}`,
  );
}
