import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import { moves, planToFinish, stage } from './restore-plan.ts';
import type { StatePlaces } from './state-files.ts';

/** What a restore did. */
interface Restored {
  readonly source: string;
  /** The files that are in place now, by path. */
  readonly restored: readonly string[];
  /** The folders with the files that were there before. */
  readonly aside: readonly string[];
}

/**
 * Puts the files of a verified backup in the place of those of the state, which are moved into a folder beside them. A
 * restore that was interrupted while files moved is finished instead; before that, it has changed nothing. The caller
 * holds the lock of the state directory. Rejects with BACKUP_INVALID and STATE_NEWER before anything is moved.
 */
export async function restoreBackup(
  places: StatePlaces, folder: string, { clock }: { readonly clock: Clock },
): Promise<Restored> {
  try {
    const plan = planToFinish(places) ?? await stage(places, folder, clock);
    for (const _ of moves(places.stateDir, plan)) continue;
    const asides = new Set(plan.targets.map(({ path }) => join(dirname(path), plan.aside)));
    return {
      source: plan.source,
      restored: plan.targets.filter(({ isStaged }) => isStaged).map(({ path }) => path),
      aside: [...asides].filter((directory) => existsSync(directory)),
    };
  } catch (cause) {
    if (isGannetError(cause) || !(cause instanceof Error && 'code' in cause)) throw cause;
    throw new GannetError('JOURNAL_FAILED', `the backup ${folder} was not restored: ${messageOf(cause)}; run the `
      + 'command again as a user who may write there, with room on the disk', { cause });
  }
}
