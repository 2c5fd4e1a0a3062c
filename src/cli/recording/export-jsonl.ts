import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { GannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { InputSource, KindChoice } from '../../recording/reader.ts';
import { interruption } from '../interrupt.ts';

const CHUNK_CHARS = 1 << 20;

/**
 * Writes every input as a line of JSON: its number `seq`, the time `at` of its stamp, and its members; amounts are strings.
 * Returns how many there are. Throws USAGE where the file exists or cannot be written, and INTERRUPTED.
 */
export function exportJsonl(recording: InputSource, { file, kinds, interrupt }: KindChoice & { readonly file: string; readonly interrupt: AbortSignal }): { readonly events: number; readonly bytes: number } {
  const descriptor = opened(file);
  try {
    const cursor = recording.cursor({ kinds });
    let events = 0;
    let bytes = 0;
    let text = '';
    const write = (): void => {
      if (interrupt.aborted) throw interruption();
      bytes += writeWhole(descriptor, Buffer.from(text));
      text = '';
    };
    while (cursor.next()) {
      const { seq, at, input } = cursor;
      text += `${stringifyJson({ seq, at, ...('toJSON' in input && typeof input.toJSON === 'function' ? input.toJSON() as object : input) })}\n`;
      events += 1;
      if (text.length >= CHUNK_CHARS) write();
    }
    write();
    fsyncSync(descriptor);
    return { events, bytes };
  } finally {
    closeSync(descriptor);
  }
}

function opened(file: string): number {
  try {
    return openSync(file, 'wx', 0o644);
  } catch (cause) {
    throw new GannetError('USAGE', `expected a file to write that is not there yet: ${messageOf(cause)}`, { cause });
  }
}

function writeWhole(descriptor: number, bytes: Buffer): number {
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(descriptor, bytes, done);
  } catch (cause) {
    throw new GannetError('RECORDING_WRITE_FAILED', `the export cannot be written: ${messageOf(cause)}; free space or name another file`, { cause });
  }
  return done;
}
