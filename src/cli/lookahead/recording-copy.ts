import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { InputCursor } from '../../backtest/driver.ts';
import type { Token } from '../../market/token.ts';
import { createHistoryWriter } from '../../recording/history-writer.ts';
import type { RecordingSource } from '../../recording/source.ts';

/** Writes rows into a recording of its own in a folder that is there, and returns its folder with what removes it. */
export async function copyRecording(cursor: InputCursor, { copiesDir, ...about }: {
  readonly copiesDir: string;
  readonly tokens: readonly Token[];
  readonly createdAt: number;
  readonly source: RecordingSource;
}): Promise<{ readonly directory: string; readonly remove: () => void }> {
  const dir = mkdtempSync(join(copiesDir, 'copy-'));
  const remove = (): void => { rmSync(dir, { recursive: true, force: true }); };
  try {
    const writer = createHistoryWriter({ dir, name: 'copy', ...about });
    for (let seq = 1; cursor.next(); seq++) {
      writer.append(seq, cursor.at, cursor.input);
      if (writer.isBusy) await writer.room();
    }
    await writer.close();
    return { directory: writer.directory, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
