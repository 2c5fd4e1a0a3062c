import {
  chmodSync, chownSync, closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync,
  rmSync, statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { Clock } from '../../core/time.ts';
import { replaceFile, syncFolder } from '../../recording/files/durable-write.ts';
import { ORDER_FILES } from '../control/order-audit.ts';
import { newRunId } from '../files/find-run.ts';
import type { BackupManifest } from './backup.ts';
import { BACKED_UP_FILES, sha256Of, verifyBackup } from './backup.ts';
import type { StatePlaces } from './state-files.ts';
import { isFile } from './state-files.ts';

/** The plan of a restore, on disk from before the first file moves until the last one is in its place. */
const PLAN = 'restore.json';
const PLAN_FORM = z.object({
  format_version: z.literal(1),
  source: z.string(),
  /** The name of the folder for the files that were there, beside each of them. */
  aside: z.string().regex(/^replaced-[\w-]+$/),
  /** Each file by its path; `isStaged` where a file of the backup takes its place. */
  targets: z.array(z.object({ path: z.string(), isStaged: z.boolean() })),
});
type Plan = z.infer<typeof PLAN_FORM>;

/** Throws RESTORE_UNFINISHED where a restore was interrupted: a part of the files is of the backup. */
export function refuseUnfinishedRestore(stateDir: string): void {
  const plan = readPlan(stateDir);
  if (plan === undefined) return;
  throw new GannetError('RESTORE_UNFINISHED', `a restore of ${stateDir} was interrupted: finish it with "gannet state `
    + `restore ${plan.source}"`, { details: { source: plan.source } });
}

/** Returns the plan of a restore that was interrupted while files moved. */
function readPlan(stateDir: string): Plan | undefined {
  const path = join(stateDir, PLAN);
  if (!existsSync(path)) return undefined;
  try {
    return PLAN_FORM.parse(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new GannetError('RESTORE_UNFINISHED', `${path}, the plan of a restore that was interrupted, cannot be read: `
      + 'move it elsewhere, and restore the same backup again', { details: { path }, cause });
  }
}

/**
 * Returns the plan of an interrupted restore of these places. Throws RESTORE_UNFINISHED where it moves other files: a
 * restore may run as root, and its plan lies in a folder of another user.
 */
export function planToFinish(places: StatePlaces): Plan | undefined {
  const plan = readPlan(places.stateDir);
  const own = new Set(BACKED_UP_FILES.map(({ file, isCounters }) => placeOf(places, file, isCounters)));
  const foreign = plan?.targets.find(({ path }) => !own.has(path));
  if (foreign === undefined) return plan;
  throw new GannetError('RESTORE_UNFINISHED', `${join(places.stateDir, PLAN)}, the plan of a restore that was `
    + `interrupted, moves ${printable(foreign.path)}, which is no file of this state: nothing was moved. Set `
    + 'GANNET_SIGNER_DIR as it was then; otherwise move the plan elsewhere, and restore the same backup again',
  { details: { path: foreign.path } });
}

function placeOf({ stateDir, countersDir }: StatePlaces, file: string, isCounters: boolean): string {
  return join(isCounters ? countersDir : stateDir, file);
}

const stagedPath = (path: string): string => `${path}.restoring`;

/** Copies the files of the backup beside the places where they go, and writes the plan. */
export async function stage(places: StatePlaces, folder: string, clock: Clock): Promise<Plan> {
  const manifest = await verifyBackup(folder);
  const { stateDir } = places;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const targets = targetsOf(manifest, places);
  const plan: Plan = { format_version: 1, source: folder, aside: `replaced-${newRunId(clock)}`, targets };
  const staged: string[] = [];
  try {
    for (const { path, isStaged } of targets) {
      rmSync(stagedPath(path), { force: true });
      if (!isStaged) continue;
      staged.push(stagedPath(path));
      await stageFile(join(folder, basename(path)), path, { manifest, stateDir });
    }
    replaceFile(stateDir, PLAN, `${stringifyJson(plan)}\n`);
  } catch (error) {
    // A full disk must not be left fuller. With a plan on the disk, the same command needs them.
    if (!existsSync(join(stateDir, PLAN))) for (const path of staged) rmSync(path, { force: true });
    throw error;
  }
  return plan;
}

/**
 * Everything is as it was at the backup: what is missing there goes aside too. Two things stay: counters that the
 * backup lacks, which belong to the signer, and the file of orders, which no restore shortens.
 */
function targetsOf({ files }: BackupManifest, places: StatePlaces): Plan['targets'] {
  const held = new Set(files.map(({ file }) => file));
  const hasOrders = ORDER_FILES.some((file) => isFile(join(places.stateDir, file)));
  return BACKED_UP_FILES
    .filter(({ file, isCounters }) => (ORDER_FILES.includes(file) ? !hasOrders && held.has(file)
      : held.has(file) || !isCounters))
    .map(({ file, isCounters }) => ({ path: placeOf(places, file, isCounters), isStaged: held.has(file) }));
}

/** The copy gets the owner of its folder, and is compared with the manifest once more. */
async function stageFile(
  from: string, path: string, { manifest, stateDir }: { readonly manifest: BackupManifest; readonly stateDir: string },
): Promise<void> {
  const directory = dirname(path);
  const { uid, gid } = statSync(existsSync(directory) ? directory : stateDir);
  const own = (file: string): void => { if (process.getuid?.() === 0) chownSync(file, uid, gid); };
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined) own(directory);
  const staged = stagedPath(path);
  copyFileSync(from, staged);
  chmodSync(staged, 0o600);
  own(staged);
  const file = openSync(staged, 'r');
  fsyncSync(file);
  closeSync(file);
  if (await sha256Of(staged) !== manifest.files.find((each) => each.file === basename(path))?.sha256) {
    throw new GannetError('BACKUP_INVALID', `the copy ${staged} differs from the backup: nothing was changed; check `
      + 'the disk, and try again');
  }
}

/** What SQLite keeps beside a file; of no use to the restored one. */
const SIDE_FILES = ['-wal', '-shm', ''] as const;

/**
 * Moves the files, and yields after each move. Wherever it ends, the same plan goes on from there: a file whose copy is
 * not staged any longer is in its place.
 */
export function* moves(stateDir: string, plan: Plan): Generator<string, void> {
  for (const { path, isStaged } of plan.targets) {
    if (isStaged && !existsSync(stagedPath(path))) continue;
    for (const end of SIDE_FILES) {
      if (!existsSync(path + end)) continue;
      moveAside(path + end, plan.aside);
      yield `${path}${end} aside`;
    }
    if (!isStaged) continue;
    renameSync(stagedPath(path), path);
    yield path;
  }
  for (const directory of new Set(plan.targets.map(({ path }) => dirname(path)))) syncFolder(directory);
  rmSync(join(stateDir, PLAN));
  syncFolder(stateDir);
}

function moveAside(path: string, aside: string): void {
  const folder = join(dirname(path), aside);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined && process.getuid?.() === 0) {
    const { uid, gid } = statSync(dirname(path));
    chownSync(folder, uid, gid);
  }
  renameSync(path, join(folder, basename(path)));
}
