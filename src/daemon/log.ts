import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Logger } from 'winston';
import { createLogger, format, transports } from 'winston';
import { isNoRoom } from '../core/errors.ts';
import { printable, printableJson } from '../core/text.ts';
import { appendWhole } from '../recording/files/append-whole.ts';
import { createRedactor } from './redact.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export const LOG_LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];

/** Diagnostics: what went on inside. What a run has to say to its user is the narrator's. */
export type Log = (level: LogLevel, message: string, details?: Readonly<Record<string, unknown>>) => void;

/** What the logs of earlier runs may take together; the oldest go first. */
const KEPT_BYTES_MAX = 200 * 1024 * 1024;

/**
 * Returns the log of a process: to standard error, as lines for people on a terminal and as JSON elsewhere, and as JSON
 * to `state/logs/`, which keeps what standard error is spared because the run tells it there already. Secrets are hidden in both, however deep they stand; text from outside cannot forge a line.
 */
export function createLog(options: {
  readonly level: LogLevel;
  readonly secrets: readonly string[];
  readonly terminal: boolean;
  /** Where a file of this name is kept besides, in its folder `logs`. */
  readonly file?: { readonly stateDir: string; readonly name: string } | undefined;
}): {
  readonly log: Log;
  /** Keeps a line in the file alone: what the run tells its user by itself. */
  readonly keep: Log;
  readonly close: () => Promise<void>;
} {
  const redact = createRedactor(options.secrets);
  // In place: winston finds the level under a symbol, which a copy would not have.
  const redacting = format((info) => Object.assign(info, redact(info)));
  const json = format.combine(format.timestamp(), redacting(), format.json(), harmless());
  const lines = format.combine(redacting(), format.printf((info) => humanLine(info)));
  const shown = format((info) => (info[FILE_ONLY] === true ? false : info));
  const logger: Logger = createLogger({
    level: fileLevel(options.level),
    transports: [
      new transports.Console({ level: options.level, format: format.combine(shown(), options.terminal ? lines : json), stderrLevels: [...LOG_LEVELS] }),
      ...(options.file === undefined ? [] : fileTransports(options.file, json)),
    ],
  });
  return {
    log: (level, message, details = {}) => { logger.log(level, message, details); },
    keep: (level, message, details = {}) => { logger.log(level, message, { ...details, [FILE_ONLY]: true }); },
    close: () => new Promise((resolve) => {
      logger.on('finish', resolve);
      logger.end();
    }),
  };
}

function fileLevel(level: LogLevel): LogLevel {
  return level === 'debug' ? 'debug' : 'info';
}

/** Marks a line that standard error is spared. */
const FILE_ONLY = Symbol('file only');

/** Where winston keeps the line that it writes. */
const LINE = Symbol.for('message');

const harmless = format((info) => Object.assign(info, { [LINE]: printableJson(String(info[LINE])) }));

/**
 * One plain file a run: rotation by size loses lines in bursts. Lines that a full disk does not take are left out; it must
 * end neither the log nor the process.
 */
function fileTransports(file: { stateDir: string; name: string }, json: ReturnType<typeof format.combine>): transports.StreamTransportInstance[] {
  const dirname = join(file.stateDir, 'logs');
  try {
    mkdirSync(dirname, { recursive: true, mode: 0o700 });
    dropOldest(dirname);
    return [new transports.Stream({ stream: appendTo(join(dirname, `${file.name}.log`)), format: json })];
  } catch (error) {
    if (isNoRoom(error)) return [];
    throw error;
  }
}

/** The file begins with its first line: a start that fails before it leaves none. */
function appendTo(path: string): Writable {
  let descriptor: number | undefined;
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      try {
        descriptor ??= openSync(path, 'a', 0o600);
        appendWhole(descriptor, line);
        done();
      } catch (error) {
        done(isNoRoom(error) ? null : error as Error);
      }
    },
    final(done) {
      if (descriptor !== undefined) closeSync(descriptor);
      done();
    },
  });
}

function dropOldest(dirname: string): void {
  const files = readdirSync(dirname).filter((name) => name.endsWith('.log'))
    .map((name) => ({ path: join(dirname, name), ...pickStats(join(dirname, name)) }))
    .sort((a, b) => b.modified - a.modified);
  let kept = 0;
  for (const { path, bytes } of files) {
    kept += bytes;
    if (kept > KEPT_BYTES_MAX) rmSync(path, { force: true });
  }
}

function pickStats(path: string): { bytes: number; modified: number } {
  const { size, mtimeMs } = statSync(path);
  return { bytes: size, modified: mtimeMs };
}

function humanLine({ level, message, ...details }: Record<string, unknown> & { level: string }): string {
  const rest = Object.entries(details).filter(([key, value]) => key !== 'timestamp' && value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return printable([level.padEnd(5), String(message), ...rest].join(' '), 2_000);
}
