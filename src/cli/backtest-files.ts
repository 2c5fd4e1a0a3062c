import { GannetError, isNoRoom, messageOf } from '../core/errors.ts';
import type { RunFiles } from '../daemon/run-files.ts';
import { createRunFiles } from '../daemon/run-files.ts';

/** Opens the files of a backtest for writing. All of them throw DISK_FULL where there is no room: nobody waits for it there, as a run would. */
export function createBacktestFiles(stateDir: string, runId: string): RunFiles {
  const onDisk = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      throw new GannetError('DISK_FULL', `there is no room for the backtest in ${stateDir}: ${messageOf(error)}; free some space, or give another folder with --state-dir`, { cause: error });
    }
  };
  const files = onDisk(() => createRunFiles(stateDir, runId));
  return {
    dir: files.dir,
    decision: (logged) => { onDisk(() => { files.decision(logged); }); },
    manifest: (manifest) => { onDisk(() => { files.manifest(manifest); }); },
    close: () => { files.close(); },
  };
}
