import { dirname } from 'node:path';
import { syncFolder } from '../files/durable-write.ts';
import { yieldToInterrupt } from '../interrupt.ts';
import type { InputSource, KindChoice } from '../reader.ts';
import { UnfinishedFile } from './unfinished-file.ts';

const CHUNK_CHARS = 1 << 20;

/** The interrupt and the progress of an export. */
export interface ExportProgress {
  readonly interrupt: AbortSignal;
  /** Called now and then with the number of written events. */
  readonly onEvents?: ((done: number) => void) | undefined;
}

/**
 * Writes every input as a line of JSON: its number `seq`, the time `at` of its stamp, and its members. Amounts are
 * strings, and so are numbers without a JSON form (Infinity, -Infinity, NaN). A failed export leaves no file. Resolves
 * with the number of events. Rejects with USAGE where the file exists or cannot be created, RECORDING_WRITE_FAILED, and
 * INTERRUPTED.
 */
export async function exportJsonl(
  recording: InputSource, { file, kinds, interrupt, onEvents }: KindChoice & ExportProgress & { readonly file: string },
): Promise<{ readonly events: number; readonly bytes: number }> {
  const unfinished = new UnfinishedFile(file);
  try {
    const written = await writeLines(recording, { unfinished, kinds, interrupt, onEvents });
    unfinished.finish();
    unfinished.publish();
    syncFolder(dirname(file));
    return written;
  } catch (error) {
    unfinished.discard();
    throw error;
  }
}

/** Checks for an interrupt between pieces. */
async function writeLines(
  recording: InputSource,
  { unfinished, kinds, interrupt, onEvents }: KindChoice & ExportProgress & { readonly unfinished: UnfinishedFile },
): Promise<{ readonly events: number; readonly bytes: number }> {
  const cursor = recording.cursor({ kinds });
  let events = 0;
  let bytes = 0;
  let text = '';
  const write = async (): Promise<void> => {
    await yieldToInterrupt(interrupt);
    onEvents?.(events);
    const piece = Buffer.from(text);
    unfinished.write(piece);
    bytes += piece.length;
    text = '';
  };
  while (cursor.next()) {
    const { seq, at, input } = cursor;
    // A recorded quote has accessors, which a spread would leave out.
    const members = 'toJSON' in input && typeof input.toJSON === 'function' ? input.toJSON() as object : input;
    text += `${jsonLine({ seq, at, ...members })}\n`;
    events += 1;
    if (text.length >= CHUNK_CHARS) await write();
  }
  await write();
  return { events, bytes };
}

function jsonLine(row: object): string {
  return JSON.stringify(row, (_key, value: unknown) =>
    (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value));
}
