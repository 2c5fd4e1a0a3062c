import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { logPath } from './log.ts';
import type { LogLevel } from './log-levels.ts';
import { LOG_LEVELS } from './log-levels.ts';

/** A line of a log file. */
export interface LogLine {
  /** As in the file, cut where it is longer than any line of ours. */
  readonly text: string;
  /** Its members; undefined for a line that is no JSON object, such as the torn one of a crash. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
}

/** Which lines are wanted. */
export interface LogFilter {
  /** The least severe. */
  readonly level?: LogLevel | undefined;
  readonly strategy?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
}

const SUFFIX = '.log';
const CHUNK_BYTES = 64 * 1024;
/** The rest of a longer line is left out, so that a file without line ends takes no memory. */
const LINE_MAX_BYTES = 256 * 1024;
const LINE_END = 0x0a;

/** Returns the runs with a log in a state directory, oldest first: their ids sort by time. */
export function loggedRuns(stateDir: string): string[] {
  try {
    return readdirSync(join(stateDir, 'logs')).filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length)).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns whether a line is wanted. A line that is no JSON object is wanted where nothing is asked of it. */
function isWanted({ entry }: LogLine, { level, strategy, since }: LogFilter): boolean {
  if (entry === undefined) return level === undefined && strategy === undefined && since === undefined;
  const own = LOG_LEVELS.findIndex((one) => one === entry['level']);
  if (level !== undefined && (own < 0 || own > LOG_LEVELS.indexOf(level))) return false;
  if (strategy !== undefined && entry['strategy'] !== strategy) return false;
  return since === undefined || timeOf(entry) >= since;
}

/** A line without a time counts as old. */
function timeOf(entry: Readonly<Record<string, unknown>>): number {
  const at = typeof entry['timestamp'] === 'string' ? Date.parse(entry['timestamp']) : NaN;
  return Number.isNaN(at) ? 0 : at;
}

function lineOf(bytes: Buffer): LogLine {
  const text = bytes.subarray(0, LINE_MAX_BYTES).toString('utf8').replace(/\r$/, '');
  return { text, entry: entryOf(text) };
}

function entryOf(text: string): LogLine['entry'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? value as Readonly<Record<string, unknown>> : undefined;
  } catch {
    return undefined;
  }
}

/** The end of a run's log, and how far it was read: what follows begins there. */
interface LogTail {
  readonly lines: readonly LogLine[];
  readonly readTo: number;
}

/**
 * Returns the last wanted lines of a run's log, oldest first. The file is read from its end, in parts, up to the first
 * line that is older than the filter asks for. An unfinished last line is left for what follows.
 */
export function tailOf(stateDir: string, run: string, { count, filter }: {
  readonly count: number; readonly filter: LogFilter;
}): LogTail {
  const file = openLog(stateDir, run);
  if (file === undefined) return { lines: [], readTo: 0 };
  try {
    const lines: LogLine[] = [];
    let readTo: number | undefined;
    for (const { bytes, end } of linesBackwards(file)) {
      readTo ??= end;
      if (lines.length >= count) break;
      const line = lineOf(bytes);
      if (filter.since !== undefined && line.entry !== undefined && timeOf(line.entry) < filter.since) break;
      if (isWanted(line, filter)) lines.push(line);
    }
    return { lines: lines.reverse(), readTo: readTo ?? 0 };
  } finally {
    closeSync(file);
  }
}

/** Yields the finished lines of a file, the last one first, each with the place after its line end. */
function* linesBackwards(file: number): Generator<{ readonly bytes: Buffer; readonly end: number }> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  // The parts of the line whose beginning is not read yet, and the place after its end; undefined before the last one.
  let parts: Buffer[] = [];
  let end: number | undefined;
  for (let at = fstatSync(file).size; at > 0;) {
    const from = Math.max(0, at - CHUNK_BYTES);
    const read = chunk.subarray(0, readSync(file, chunk, 0, at - from, from));
    let last = read.length;
    for (let place = read.lastIndexOf(LINE_END); place >= 0; place = read.subarray(0, place).lastIndexOf(LINE_END)) {
      if (end !== undefined) yield { bytes: joined(read.subarray(place + 1, last), parts), end };
      parts = [];
      end = from + place + 1;
      last = place;
    }
    // The beginning of a line says more than its end.
    if (last > 0) parts = bounded([Buffer.from(read.subarray(0, last)), ...parts]);
    at = from;
  }
  if (end !== undefined) yield { bytes: joined(Buffer.alloc(0), parts), end };
}

function joined(first: Buffer, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([first, ...parts]);
}

function bounded(parts: readonly Buffer[]): Buffer[] {
  let bytes = 0;
  return parts.filter((part) => {
    const fits = bytes < LINE_MAX_BYTES;
    bytes += part.length;
    return fits;
  });
}

/** Undefined for a log that is gone: only the newest ones are kept. */
function openLog(stateDir: string, run: string): number | undefined {
  try {
    return openSync(logPath({ stateDir, name: run }), 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Reads on where a log was left. */
interface LogFollower {
  /** Returns the wanted lines since the last call, also of a run that has started since. */
  next(): readonly LogLine[];
}

/** Returns a follower of a run's log, and of the logs of later runs where `staysWith` is false. */
export function followLogs(stateDir: string, start: {
  /** Undefined where there is no log yet. */
  readonly run: string | undefined; readonly readTo: number; readonly filter: LogFilter; readonly staysWith: boolean;
}): LogFollower {
  let { run, readTo } = start;
  let rest: Buffer = Buffer.alloc(0);
  let inode = run === undefined ? undefined : inodeOf(stateDir, run);
  const readOn = (): LogLine[] => {
    if (run === undefined) return [];
    const file = openLog(stateDir, run);
    if (file === undefined) return [];
    try {
      const { size, ino } = fstatSync(file);
      // Another file has this name now, or the file was emptied.
      if (ino !== inode || size < readTo) [readTo, rest] = [0, Buffer.alloc(0)];
      inode = ino;
      const lines: LogLine[] = [];
      const chunk = Buffer.alloc(CHUNK_BYTES);
      while (readTo < size) {
        const bytes = readSync(file, chunk, 0, Math.min(chunk.length, size - readTo), readTo);
        if (bytes === 0) break;
        readTo += bytes;
        const { finished, unfinished } = splitLines(Buffer.concat([rest, chunk.subarray(0, bytes)]));
        rest = unfinished.subarray(0, LINE_MAX_BYTES);
        lines.push(...finished.map(lineOf).filter((line) => isWanted(line, start.filter)));
      }
      return lines;
    } finally {
      closeSync(file);
    }
  };
  return {
    next() {
      const lines = readOn();
      if (start.staysWith) return lines;
      for (const later of loggedRuns(stateDir).filter((name) => run === undefined || name > run)) {
        // What the earlier run wrote at its end.
        lines.push(...readOn());
        [run, readTo, rest, inode] = [later, 0, Buffer.alloc(0), undefined];
        lines.push(...readOn());
      }
      return lines;
    },
  };
}

function splitLines(bytes: Buffer): { readonly finished: readonly Buffer[]; readonly unfinished: Buffer } {
  const finished: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, from)) {
    finished.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return { finished, unfinished: Buffer.from(bytes.subarray(from)) };
}

function inodeOf(stateDir: string, run: string): number | undefined {
  return statSync(logPath({ stateDir, name: run }), { throwIfNoEntry: false })?.ino;
}
