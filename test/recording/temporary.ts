import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { VirtualTimeScheduler } from 'rxjs';
import { onTestFinished } from 'vitest';
import type { GannetError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/core/time.ts';
import { WRITER_LOCK_FILE } from '../../src/recording/format.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import type { RecordingWriter } from '../../src/recording/writer.ts';
import type { Stamped } from './arbitrary-inputs.ts';

/** Returns a folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-test-'));
  onTestFinished(() => { rmSync(folder, { recursive: true, force: true }); });
  return folder;
}

/** Returns a clock that stands still until its scheduler is flushed: nothing is written unless the test says so. */
export function stillClock(): Clock {
  return new VirtualTimeScheduler();
}

/** Returns a writer into `dir` that throws what the disk does to it. */
export function openWriter(dir: string, options: {
  readonly name?: string; readonly flushRows?: number; readonly onError?: (error: GannetError) => void;
} = {}): RecordingWriter {
  return createRecordingWriter({
    dir, clock: stillClock(), tokens: [], name: 'run',
    onError: (error) => { throw error; },
    ...options,
  });
}

/** Writes inputs, flushing after every `flushEvery`th. */
export function appendAll(writer: RecordingWriter, rows: readonly Stamped[], flushEvery: number): void {
  for (const [index, { seq, at, input }] of rows.entries()) {
    writer.append(seq, at, input);
    if ((index + 1) % flushEvery === 0) writer.flush();
  }
}

/** Returns every file of a folder that holds anything, relative to it: not the lock of a writer that has not ended. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(folder, path))
    .filter((file) => file !== WRITER_LOCK_FILE)
    .sort();
}

/** Returns a copy of a folder that a test may spoil. */
export function copyOf(folder: string): string {
  const copy = join(temporaryFolder(), 'copy');
  cpSync(folder, copy, { recursive: true });
  return copy;
}
