import { dirname } from 'node:path';
import type { InputSource, KindChoice } from '../reader.ts';
import { syncFolder } from '../files/durable-write.ts';
import { UnfinishedFile } from './unfinished-file.ts';
import { yieldToInterrupt } from '../interrupt.ts';

const CHUNK_CHARS = 1 << 20;

/** Who looks on while a recording is exported. */
export interface ExportProgress {
  readonly interrupt: AbortSignal;
  /** Hears now and then how many events are written. */
  readonly onEvents?: ((done: number) => void) | undefined;
}

/**
 * Writes every input as a line of JSON: its number `seq`, the time `at` of its stamp, and its members; amounts are
 * strings, and so are numbers that JSON has no word for (Infinity, -Infinity, NaN). All of it is there in the end, or
 * nothing. Resolves with how many there are. Rejects with USAGE where the file exists or cannot be made,
 * RECORDING_WRITE_FAILED, and INTERRUPTED.
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

/** Between pieces the interrupt has its turn. */
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
    text += `${jsonLine({ seq, at, ...('toJSON' in input && typeof input.toJSON === 'function' ? input.toJSON() as object : input) })}\n`;
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
