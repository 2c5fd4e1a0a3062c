import { join } from 'node:path';
import { VERSION } from '../../core/code-files.ts';
import { isNoRoom } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import { newRunId } from '../files/find-run.ts';
import type { Log } from '../reporting/log.ts';
import { backupsFolder, makeBackup, pruneBackups } from './backup.ts';
import { refuseUnfinishedRestore } from './restore-plan.ts';
import type { StatePlaces } from './state-files.ts';
import { databasesToMigrate, noteVersion, refuseNewerState } from './state-files.ts';

const UPGRADE = 'upgrade-';
const UPGRADES_KEPT = 3;

/**
 * Takes over the state directory for this version: refuses that of a newer one and an unfinished restore, makes a
 * backup where files of an earlier version are about to be migrated, and notes the version. Returns what to tell the
 * operator. The caller holds the lock of the state directory.
 */
export async function takeOverState(
  { clock, log, ...places }: StatePlaces & { readonly clock: Clock; readonly log: Log },
): Promise<readonly string[]> {
  const { stateDir } = places;
  refuseUnfinishedRestore(stateDir);
  refuseNewerState(places);
  const notices: string[] = [];
  if (databasesToMigrate(places).length > 0) {
    const parent = backupsFolder(stateDir);
    const folder = join(parent, `${UPGRADE}${newRunId(clock)}`);
    await makeBackup(places, folder, clock);
    pruneBackups(parent, UPGRADES_KEPT, UPGRADE);
    notices.push(`the state of an earlier version is upgraded to Gannet ${VERSION}; the way back is "gannet state `
      + `restore ${folder}"`);
  }
  try {
    noteVersion(stateDir);
  } catch (error) {
    // A daemon starts on a full disk too, and the files have formats of their own.
    if (!isNoRoom(error)) throw error;
    log('error', 'the disk has no room to note the version of the state directory', { error });
  }
  return notices;
}
