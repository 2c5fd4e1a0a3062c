import { close, constants, fstatSync, openSync, createReadStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { unreadable } from './file-places.ts';
import { interruption } from './interrupt.ts';

/** What a command may be handed as text, in bytes: beyond that it is something else's file. */
const MOST_BYTES = 1_048_576;

/**
 * Returns the text of a file or a pipe, of standard input where it is "-". An interrupt ends the wait for what somebody
 * still has to type or write. Throws USAGE where it cannot be read or is too long, and INTERRUPTED.
 */
export async function readInput(file: string, interrupt: AbortSignal): Promise<string> {
  let text = '';
  let size = 0;
  const decoder = new StringDecoder('utf8');
  try {
    for await (const chunk of addAbortSignal(interrupt, openInput(file)) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) throw new GannetError('USAGE', `expected at most ${MOST_BYTES} bytes, got more`);
      text += decoder.write(chunk);
    }
  } catch (cause) {
    if (interrupt.aborted) throw interruption(cause);
    throw cause instanceof GannetError ? cause : unreadable(file, cause);
  }
  return text + decoder.end();
}

/** Returns a file or a pipe, standard input where it is "-". Opened without waiting for a writer, or an interrupt could not end the wait. A device has no end that could be waited for. */
export function openInput(file: string): Readable {
  if (file === '-') return process.stdin;
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const kind = fstatSync(fd);
  if (kind.isFile()) return createReadStream('', { fd });
  if (kind.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  close(fd);
  throw new GannetError('USAGE', `${printable(file)}: expected a file or a pipe, got ${kind.isDirectory() ? 'a folder' : 'a device'}`);
}
