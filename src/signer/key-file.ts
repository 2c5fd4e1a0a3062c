import { constants } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { GannetError, isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { holdsKeyRun } from './key-shape.ts';
import { parseSecretKey, type SecretKey } from './key.ts';

const MAX_KEY_FILE_BYTES = 4_096;
const ALLOWED_MODES: readonly number[] = [0o600, 0o400];
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns the key that `source` names: `file:PATH` or `env:NAME`, the latter looked up in `environment`.
 * A file must be a regular one of mode 0600 or 0400, of at most 4096 bytes, and no link out of its folder.
 * Throws KEY_INVALID, without any part of the key.
 */
export async function readSecretKey(options: {
  readonly source: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<SecretKey> {
  const { source, environment } = options;
  if (source.startsWith('env:')) return keyFromEnvironment(source.slice('env:'.length), environment);
  if (source.startsWith('file:')) return keyFromFile(source.slice('file:'.length));
  throw keyInvalid('expected "file:PATH" or "env:NAME" to say where the key is; the key itself belongs in neither '
    + 'configuration nor arguments');
}

function keyFromEnvironment(name: string, environment: Readonly<Record<string, string | undefined>>): SecretKey {
  if (!ENVIRONMENT_NAME.test(name))
    throw keyInvalid(`expected the name of an environment variable after "env:", got ${shown(name)}`);
  const text = environment[name];
  if (text === undefined || text === '') throw keyInvalid(`the environment variable ${shown(name)} is not set`);
  return parseFrom(`environment variable ${shown(name)}`, text);
}

async function keyFromFile(path: string): Promise<SecretKey> {
  if (path === '') throw keyInvalid('expected a path after "file:"');
  const file = await openKeyFile(path);
  try {
    return parseFrom(`file ${shown(path)}`, await readChecked(file, path));
  } finally {
    await file.close();
  }
}

async function openKeyFile(path: string): Promise<FileHandle> {
  try {
    const folder = await realpath(dirname(path));
    const target = await realpath(path);
    if (dirname(target) !== folder && !target.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
      throw keyInvalid(`file ${shown(path)} is a link to a place outside its folder; name the real file`);
    }
    // Without O_NONBLOCK a named pipe would block the start.
    return await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw keyInvalid(`file ${shown(path)} cannot be opened: ${systemCode(cause)}`);
  }
}

async function readChecked(file: FileHandle, path: string): Promise<string> {
  // The open file is checked, not the path: the file cannot be exchanged in between.
  const facts = await file.stat();
  if (!facts.isFile()) throw keyInvalid(`${shown(path)} is not a regular file`);
  const mode = facts.mode & 0o7777;
  if (!ALLOWED_MODES.includes(mode)) {
    const found = mode.toString(8).padStart(4, '0');
    throw keyInvalid(`file ${shown(path)} has mode ${found}, expected 0600 or 0400; run: chmod 600 ${shown(path)}`);
  }
  const buffer = Buffer.alloc(MAX_KEY_FILE_BYTES + 1);
  try {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_KEY_FILE_BYTES)
      throw keyInvalid(`file ${shown(path)} is larger than ${MAX_KEY_FILE_BYTES} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    buffer.fill(0);
  }
}

function parseFrom(place: string, text: string): SecretKey {
  try {
    return parseSecretKey(text);
  } catch (error) {
    if (isGannetError(error)) throw keyInvalid(`${place}: ${error.message}`);
    throw error;
  }
}

/** A name or path for a message, unless it could be a key, or a part of one, pasted into the wrong place. */
function shown(name: string): string {
  return holdsKeyRun(name) ? '(not shown: it may be a key)' : `"${printable(name)}"`;
}

function systemCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  return code === 'ENOENT' ? 'there is no such file' : code;
}

function keyInvalid(message: string): GannetError {
  return new GannetError('KEY_INVALID', message);
}
