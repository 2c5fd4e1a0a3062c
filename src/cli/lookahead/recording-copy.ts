import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputCursor } from '../../backtest/driver.ts';
import { VirtualClock } from '../../engine/virtual-clock.ts';
import type { Token } from '../../market/token.ts';
import { createRecordingWriter } from '../../recording/writer.ts';

/** Writes rows into a recording of its own, and returns its folder with what removes it. */
export async function copyRecording(cursor: InputCursor, { tokens, createdAt }: { readonly tokens: readonly Token[]; readonly createdAt: number }): Promise<{ readonly directory: string; readonly remove: () => void }> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-lookahead-'));
  const remove = (): void => { rmSync(dir, { recursive: true, force: true }); };
  try {
    const writer = createRecordingWriter({ dir, name: 'copy', clock: new VirtualClock(createdAt), tokens, onError: (error) => { throw error; } });
    for (let seq = 1; cursor.next(); seq++) writer.append(seq, cursor.at, cursor.input);
    await writer.close();
    return { directory: writer.directory, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
