import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { stringifyJson } from '../../core/json.ts';
import type { LogPage } from '../../dashboard/page-state.ts';

/** The newest lines are within the last part of the file. */
const TAIL_BYTES = 256 * 1024;

type LogLine = LogPage['lines'][number];

/** Returns the newest lines of a run's log, as they are on disk; none where there is no file yet. */
export async function readLog(path: string, limit: number): Promise<LogPage> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    // The first one may begin in the middle.
    const whole = (from === 0 ? lines : lines.slice(1)).filter((line) => line !== '');
    return { lines: whole.slice(-limit).reverse().map(readLine) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { lines: [] };
    throw error;
  } finally {
    await file?.close();
  }
}

function readLine(line: string): LogLine {
  try {
    const { timestamp, level, message, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return {
      at: typeof timestamp === 'string' ? timestamp : null, level: String(level), message: String(message),
      details: Object.keys(rest).length === 0 ? '' : stringifyJson(rest),
    };
  } catch {
    // A line that a full disk has cut.
    return { at: null, level: 'info', message: line, details: '' };
  }
}
