import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';

/**
 * Makes a recording's folder and returns its path. Throws RECORDING_WRITE_FAILED where a folder of the given name
 * exists.
 */
export function freeDirectory(parent: string, name: string | undefined, at: Millis): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const wanted = name ?? timeName(at);
  for (let attempt = 1; ; attempt++) {
    const directory = join(parent, attempt === 1 ? wanted : `${wanted}-${attempt}`);
    try {
      mkdirSync(directory, { mode: 0o700 });
      return directory;
    } catch (cause) {
      if (!isExists(cause)) throw cause;
      if (name !== undefined) {
        throw new GannetError(
          'RECORDING_WRITE_FAILED', `expected a new recording, found the folder ${directory}; choose another name`,
          { details: { directory }, cause },
        );
      }
    }
  }
}

/** Returns the UTC hour as it stands in file names: "2026-11-20T19". */
export function hourName(at: Millis): string {
  return new Date(at).toISOString().slice(0, 13);
}

function timeName(at: Millis): string {
  return new Date(at).toISOString().slice(0, 19).replaceAll(':', '-');
}

function isExists(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
}
