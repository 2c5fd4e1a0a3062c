import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { faultText, openInput, unreadable } from '../../recording/import/input-file.ts';
import { interruption } from '../../recording/interrupt.ts';

/** The type of the process file system, which takes no new files. */
const PROCESS_FILES = 0x9f_a0;

/**
 * Throws USAGE for a folder that can never be created. Without this check, creating it with its parents would never
 * end.
 */
export function refuseImpossibleFolder(folder: string, option: string): void {
  let place = resolve(folder);
  if (existsSync(place)) return;
  while (!existsSync(place)) place = dirname(place);
  if (statfsSync(place).type === PROCESS_FILES) throw new GannetError(
    'USAGE', `${option} ${printable(folder)} cannot be created: ${place} takes no folders; name another place`,
  );
}

/**
 * Creates the folder of an output file. Throws USAGE when the file could not be written: before the work, not after it.
 */
export function ensureWritable(file: string, option: string): void {
  const refused = (why: string, cause?: unknown): GannetError =>
    new GannetError('USAGE', `${option} ${printable(file)} cannot be written: ${why}; name another file`, { cause });
  const path = resolve(file);
  const folder = dirname(path);
  refuseImpossibleFolder(folder, option);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw refused(faultText(cause), cause);
  }
  const kind = existsSync(path) ? statSync(path) : undefined;
  if (kind?.isDirectory() === true) throw refused('it is a folder');
  // The output replaces the file, so /dev/null would become a regular file.
  if (kind?.isFile() === false) throw refused('it is a pipe or a device');
  if (statfsSync(folder).type === PROCESS_FILES) throw refused(`${folder} takes no files`);
}

/** The most bytes of a text input. A longer file is not meant for the command. */
const MAX_INPUT_BYTES = 1_048_576;

/**
 * Returns the text of a file or a pipe, or of standard input for "-". An interrupt ends the wait for input. Throws
 * USAGE when it cannot be read or is too long, and INTERRUPTED.
 */
export async function readInput(file: string, interrupt: AbortSignal): Promise<string> {
  let text = '';
  let size = 0;
  const decoder = new StringDecoder('utf8');
  try {
    for await (const chunk of addAbortSignal(interrupt, openInput(file)) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_INPUT_BYTES) throw new GannetError('USAGE', `expected at most ${MAX_INPUT_BYTES} bytes, got more`);
      text += decoder.write(chunk);
    }
  } catch (cause) {
    if (interrupt.aborted) throw interruption(cause);
    throw cause instanceof GannetError ? cause : unreadable(file, cause);
  }
  return text + decoder.end();
}
