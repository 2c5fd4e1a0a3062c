import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import type { Logger } from 'winston';
import { createLogger, format, transports } from 'winston';
import { isNoRoom } from '../../core/errors.ts';
import { createRedaction } from '../../core/redaction.ts';
import { printable, printableJson } from '../../core/text.ts';
import type { RolledFile } from '../files/rolled-file.ts';
import { openRolledFile } from '../files/rolled-file.ts';
import type { LogLevel } from './log-levels.ts';
import { LOG_LEVELS } from './log-levels.ts';

/** Keys whose values are always secrets. */
const SECRET_KEY = /api[-_]?key|private[-_]?key|secret|token$|password|authorization|mnemonic|^seed_?phrase$/i;
/** Base58 of 64 bytes: a secret key, or a signature where the member's name says so. */
const BASE58_64_BYTES = /\b[1-9A-HJ-NP-Za-km-z]{86,88}\b/g;
const KEY_ARRAY = /\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]/g;
/** Members that hold transaction signatures, which have the same form as secret keys. */
const SIGNATURE_KEY = /signature|^id$|transactionId/;

const HIDDEN = '[redacted]';

/**
 * Returns a function that hides secrets: by the name of their member, by their form, and by 16 characters of their
 * text.
 */
export function createRedactor(secrets: readonly string[]): (value: unknown) => unknown {
  const hide = createRedaction(secrets.filter((secret) => secret.length >= 6), HIDDEN);
  const text = (value: string, key: string): string => {
    const shown = hide(value).replace(KEY_ARRAY, HIDDEN);
    return SIGNATURE_KEY.test(key) ? shown : shown.replace(BASE58_64_BYTES, HIDDEN);
  };
  const redact = (value: unknown, key: string, seen: readonly object[]): unknown => {
    if (typeof value === 'string') return SECRET_KEY.test(key) && value !== '' ? HIDDEN : text(value, key);
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    if (seen.includes(value)) return '[circular]';
    const path = [...seen, value];
    if (value instanceof Uint8Array) return `[${value.length} bytes]`;
    if (Array.isArray(value)) {
      const isKey = value.length === 64 && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
      return isKey ? HIDDEN : value.map((item) => redact(item, key, path));
    }
    // An error's message and cause are not enumerable, and they are what leaks.
    const own = value instanceof Error ? { name: value.name, message: value.message, cause: value.cause } : {};
    const members = { ...own, ...Object.fromEntries(Object.entries(value)) };
    return Object.fromEntries(Object.entries(members).map(([name, member]) =>
      [hide(name), redact(member, name, path)]));
  };
  return (value) => redact(value, '', []);
}

/** Diagnostics. What a run says to its user goes through the reporter. */
export type Log = (level: LogLevel, message: string, details?: Readonly<Record<string, unknown>>) => void;

/** The total size of the logs of earlier runs; the oldest are deleted first. */
const KEPT_BYTES_MAX = 200 * 1024 * 1024;
/** The size of a part of a log before it is compressed, and how many of a run are kept beside the newest. */
const PART_BYTES = 8_000_000;
const PARTS_MAX = 50;

/**
 * Returns the log of a process. Standard error gets text on a terminal and JSON elsewhere. A file in `state/logs/` gets
 * JSON, including the lines that the run's reporter shows itself. Secrets are hidden in both at any depth, and text
 * from outside cannot forge a line.
 */
export function createLog(options: {
  readonly level: LogLevel;
  readonly secrets: readonly string[];
  readonly terminal: boolean;
  /** Adds a log file of this name in the state directory's folder `logs`. */
  readonly file?: { readonly stateDir: string; readonly name: string } | undefined;
}): {
  readonly log: Log;
  /** Writes a line to the file alone, because the reporter shows the event itself. */
  readonly keep: Log;
  readonly close: () => Promise<void>;
} {
  const redact = createRedactor(options.secrets);
  // In place, because winston finds the level under a symbol that a copy would not have.
  const redacting = format((info) => Object.assign(info, redact(info)));
  const json = format.combine(format.timestamp(), redacting(), format.json(), harmless());
  const lines = format.combine(redacting(), format.printf((info) => humanLine(info)));
  const shown = format((info) => (info[FILE_ONLY] === true ? false : info));
  const logger: Logger = createLogger({
    level: fileLevel(options.level),
    transports: [
      new transports.Console({
        level: options.level, format: format.combine(shown(), options.terminal ? lines : json),
        stderrLevels: [...LOG_LEVELS],
      }),
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

/** Marks a line for the file alone. */
const FILE_ONLY = Symbol('file only');

/** The symbol under which winston keeps the finished line. */
const LINE = Symbol.for('message');

const harmless = format((info) => Object.assign(info, { [LINE]: printableJson(String(info[LINE])) }));

/**
 * The file of a run and its parts: `<run>.log` is the newest, `<run>.1.log.zst` the oldest, each of 8 MB before
 * compression, at most 50. A full disk loses lines, but ends neither the log nor the process.
 */
function fileTransports(
  file: { stateDir: string; name: string }, json: ReturnType<typeof format.combine>,
): transports.StreamTransportInstance[] {
  const path = logPath(file);
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    dropOldest(folder);
    return [new transports.Stream({ stream: appendTo(path), format: json })];
  } catch (error) {
    if (isNoRoom(error)) return [];
    throw error;
  }
}

/** Returns the log file of this name in a state directory. */
export function logPath({ stateDir, name }: { readonly stateDir: string; readonly name: string }): string {
  return join(stateDir, 'logs', `${name}.log`);
}

/** The first line creates the file: a start that fails before it leaves no file. */
function appendTo(path: string): Writable {
  let file: RolledFile | undefined;
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      try {
        file ??= openRolledFile({ path, partBytes: PART_BYTES, parts: PARTS_MAX });
        file.append(line);
        done();
      } catch (error) {
        done(isNoRoom(error) ? null : error as Error);
      }
    },
    final(done) {
      file?.close();
      done();
    },
  });
}

function dropOldest(folder: string): void {
  const files = readdirSync(folder).filter((name) => /\.log(?:\.zst)?$/.test(name))
    .map((name) => ({ path: join(folder, name), ...pickStats(join(folder, name)) }))
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

/** Returns an entry of the log as a line for people. */
export function humanLine({ level, message, ...details }: Record<string, unknown> & { level: string }): string {
  const rest = Object.entries(details).filter(([key, value]) => key !== 'timestamp' && value !== undefined)
    .flatMap(([key, value]) => plainDetails(key, value));
  return printable([level.padEnd(5), String(message), ...rest].join(' '), 2_000);
}

/** Returns a detail as "name=value": errors by their message, nested values by their path. */
function plainDetails(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null)
    return [`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
  if ('message' in value && typeof value.message === 'string') {
    const code = 'code' in value && typeof value.code === 'string' ? `${value.code}: ` : '';
    return [`${name}=${code}${value.message}`];
  }
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return [`${name}=${value.map(String).join(',')}`];
  return Object.entries(value).flatMap(([member, inner]) => plainDetails(`${name}.${member}`, inner));
}
