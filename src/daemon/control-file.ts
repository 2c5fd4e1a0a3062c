import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GannetError } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';

/** How a daemon is found by the commands that talk to it; kept readable for its owner alone. */
export interface ControlFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Absent in the file of an older version. */
  readonly run_id?: string | undefined;
}

const CONTROL_FILE = 'control.json';
const CONTROL = z.object({ url: z.url(), token: z.string().min(1), pid: z.int(), run_id: z.string().optional() });

/** Names the run that a request is meant for: the port of a run that ended may belong to another daemon by now. */
export const RUN_HEADER = 'gannet-run';

/** Returns where a state directory keeps how its daemon is reached. */
export function controlFilePath(stateDir: string): string {
  return join(stateDir, CONTROL_FILE);
}

/** Reads how to reach the daemon of a state directory. Throws CONTROL_UNREACHABLE when none runs there. */
export function readControlFile(stateDir: string): ControlFile {
  const path = join(stateDir, CONTROL_FILE);
  try {
    return CONTROL.parse(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new GannetError('CONTROL_UNREACHABLE', `no daemon runs with the state directory ${stateDir}: start one with "gannet run"`, { cause });
  }
}

/** Writes how to reach this process's daemon. */
export function writeControlFile(stateDir: string, content: ControlFile): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  removeControlFile(stateDir);
  writeFileSync(join(stateDir, CONTROL_FILE), stringifyJson(content), { mode: 0o600 });
}

export function removeControlFile(stateDir: string): void {
  rmSync(join(stateDir, CONTROL_FILE), { force: true });
}
