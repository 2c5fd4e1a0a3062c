import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { GannetError, messageOf } from '../core/errors.ts';
import type { EnvironmentRecord } from './interpolate.ts';

/**
 * Returns the variables of a process together with those of the `.env` files in `folders`. The process wins, then the
 * first folder. Nothing is written anywhere, least of all into the process. Throws CONFIG_INVALID where a `.env` is there
 * but cannot be read.
 */
export async function readEnvironment(options: {
  readonly variables: EnvironmentRecord;
  readonly folders: readonly string[];
}): Promise<EnvironmentRecord> {
  const files = await Promise.all(options.folders.map((folder) => readDotenv(join(folder, '.env'))));
  const set = Object.entries(options.variables).filter(([, value]) => value !== undefined);
  return Object.assign({}, ...files.reverse(), Object.fromEntries(set)) as EnvironmentRecord;
}

async function readDotenv(file: string): Promise<EnvironmentRecord> {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw new GannetError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
