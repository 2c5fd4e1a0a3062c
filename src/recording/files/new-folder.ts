import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';

/**
 * Creates a recording's folder and returns its path. Throws RECORDING_WRITE_FAILED where a folder of the given name
 * exists.
 */
export function createRecordingFolder(parent: string, name: string | undefined, at: Millis): string {
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

function timeName(at: Millis): string {
  return new Date(at).toISOString().slice(0, 19).replaceAll(':', '-');
}

function isExists(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
}

/** Returns the path of a folder that does not exist: the name, or the name with a number. */
export function freeFolderName(parent: string, name: string): string {
  for (let attempt = 1; ; attempt++) {
    const directory = join(parent, attempt === 1 ? name : `${name}-${attempt}`);
    if (!existsSync(directory)) return directory;
  }
}

/**
 * Does work that creates a folder, and removes the folder when the work fails or the process exits first: a partial
 * result would be taken for a complete one, and would keep a full disk full. Rejects as the work does.
 */
export async function removeOnFailure<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const remove = (): void => { rmSync(directory, { recursive: true, force: true }); };
  let isDone = false;
  process.once('exit', remove);
  try {
    const done = await work();
    isDone = true;
    return done;
  } finally {
    process.off('exit', remove);
    if (!isDone) remove();
  }
}
