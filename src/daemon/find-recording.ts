import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { readManifest } from './run-files.ts';

/** What the id of a backtest's run begins with. It leads to the recording that it read, and makes none. */
export const BACKTEST_RUN = 'backtest-';

/** Returns a recording's folder, given by its path, its name, or the run that made it. Throws RECORDING_NOT_FOUND. */
export function findRecording(stateDir: string, name: string): string {
  const run = join(stateDir, 'runs', name);
  if (existsSync(join(run, 'manifest.json'))) return recordingOfRun(run);
  for (const dir of [resolve(name), join(stateDir, 'recordings', name)]) {
    if (existsSync(join(dir, 'manifest.json'))) return dir;
  }
  const asked = printable(name, 300);
  const found = existsSync(resolve(name)) ? `${asked} holds no manifest.json` : `there is no folder ${asked}`;
  throw new GannetError('RECORDING_NOT_FOUND', `expected a recording's folder or name, or the id of a run, but ${found}, and ${stateDir} has no recording or run of that name: ${heldIn(stateDir)}`);
}

const NAMED = 5;

/** Some of what there is to choose among, for a slip of the pen. */
function heldIn(stateDir: string): string {
  const names = ['recordings', 'runs'].flatMap((kind) => namesIn(join(stateDir, kind)).filter((name) => kind === 'recordings' || !name.startsWith(BACKTEST_RUN)));
  if (names.length === 0) return 'it has none yet, "gannet recording generate" makes one';
  return `it has ${printable(names.slice(0, NAMED).join(', '), 500)}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`;
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'manifest.json'))).toSorted().toReversed();
}

/** Returns the folder of the recording a run made. Throws RECORDING_NOT_FOUND where it made none. */
export function recordingOfRun(runDir: string): string {
  const { recording, run_id: runId } = readManifest(runDir);
  if (recording === null) throw new GannetError('RECORDING_NOT_FOUND', `run ${runId} made no recording (recording.enabled was false)`);
  return join(runDir, recording);
}
