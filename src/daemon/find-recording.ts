import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GannetError } from '../core/errors.ts';
import { readManifest } from './run-files.ts';

/** Returns a recording's folder, given by its path, its name, or the run that made it. Throws RECORDING_NOT_FOUND. */
export function findRecording(stateDir: string, name: string): string {
  const run = join(stateDir, 'runs', name);
  if (existsSync(join(run, 'manifest.json'))) return recordingOfRun(run);
  for (const dir of [resolve(name), join(stateDir, 'recordings', name)]) {
    if (existsSync(join(dir, 'manifest.json'))) return dir;
  }
  throw new GannetError('RECORDING_NOT_FOUND', `expected a recording's folder or the id of a run, found neither at ${name} nor in ${stateDir}`);
}

/** Returns the folder of the recording a run made. Throws RECORDING_NOT_FOUND where it made none. */
export function recordingOfRun(runDir: string): string {
  const { recording, run_id: runId } = readManifest(runDir);
  if (recording === null) throw new GannetError('RECORDING_NOT_FOUND', `run ${runId} made no recording (recording.enabled was false)`);
  return join(runDir, recording);
}
