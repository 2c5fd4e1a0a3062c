import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';

/** How commands find the daemon of a state directory. Only the owner can read the file. */
export interface ControlFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Absent in the file of an older version. */
  readonly run_id?: string | undefined;
}

const CONTROL_FILE = 'control.json';
const CONTROL = z.object({ url: z.url(), token: z.string().min(1), pid: z.int(), run_id: z.string().optional() });

/** Names the run that a request is meant for: another daemon may have the port of an ended run by now. */
export const RUN_HEADER = 'gannet-run';

/** Returns the path of a state directory's control file. */
export function controlFilePath(stateDir: string): string {
  return join(stateDir, CONTROL_FILE);
}

/** Reads the control file of a state directory. Throws CONTROL_UNREACHABLE where no daemon runs. */
export function readControlFile(stateDir: string): ControlFile {
  const path = join(stateDir, CONTROL_FILE);
  try {
    return CONTROL.parse(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new GannetError(
      'CONTROL_UNREACHABLE', `no daemon runs with the state directory ${stateDir}: start one with "gannet run"`,
      { cause },
    );
  }
}

/** Writes the control file of this process's daemon. */
export function writeControlFile(stateDir: string, content: ControlFile): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  removeControlFile(stateDir);
  writeFileSync(join(stateDir, CONTROL_FILE), stringifyJson(content), { mode: 0o600 });
}

export function removeControlFile(stateDir: string): void {
  rmSync(join(stateDir, CONTROL_FILE), { force: true });
}
