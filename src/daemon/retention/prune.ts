import { existsSync, mkdirSync, statSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RetentionConfig } from '../../config/operations/retention-config.ts';
import { GannetError } from '../../core/errors.ts';
import { takeFileLock } from '../../core/file-lock.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { filesIn, namesIn, sizeOfFolder } from '../../recording/files/folder-files.ts';
import { pruneHours, recordedHours } from '../../recording/pruning.ts';
import { isBeingWritten } from '../../recording/recording-files.ts';
import { hourName } from '../../recording/segment/digest.ts';
import { openSwapPacker } from '../../store/packed-swaps.ts';
import { journalPath, runStartOf } from '../files/find-run.ts';
import { notePruned } from '../files/pruned-run.ts';
import { pack, partsOf } from '../files/rolled-file.ts';
import { DECISIONS_FILE } from '../files/run-files.ts';
import { readManifest } from '../files/run-manifest.ts';
import type { Inventory, Piece, Places, Usage } from './inventory.ts';
import { oldestOpenSwap, takeInventory, usageOf } from './inventory.ts';
import type { PrunePlan } from './plan.ts';
import { planPruning } from './plan.ts';

/** What a pruning deletes, or would delete. */
export interface Pruning {
  readonly plan: PrunePlan;
  readonly before: Usage;
  /** The sizes afterwards; undefined where nothing was done. */
  readonly after: Usage | undefined;
  /** The number of finished swaps packed, or to be packed. */
  readonly packedSwaps: number;
}

/** The options of a pruning. */
export interface PruneOptions extends Places {
  readonly config: RetentionConfig;
  readonly now: Millis;
  /** What strategies are warmed up with at the next start. */
  readonly warmupMs: Millis;
  /** Free space that the disk lacks. */
  readonly neededBytes?: number | undefined;
  /** Ends the pruning before its next step. */
  readonly interrupt?: AbortSignal | undefined;
}

const HOUR_MS: Millis = 3_600_000;
const TRASH = '.trash';
/** The manifests of older runs go too, unless they alone know a token. */
const KEPT_RUNS = 500;

/** Returns what a pruning would do, without a change. */
export async function previewPruning(options: PruneOptions): Promise<Pruning> {
  const { inventory, plan } = await planOf(options);
  let packedSwaps = 0;
  for (const path of journalsOf(options)) {
    const packer = openSwapPacker(path);
    packedSwaps += packer?.count(options.now - options.config.journal.maxAgeMs) ?? 0;
    packer?.close();
  }
  return { plan, before: inventory.usage, after: undefined, packedSwaps };
}

/**
 * Deletes what the configuration says, one file at a time, and packs finished swaps of the journal, a few at a time. A
 * process that ends on the way leaves files that all readers can read, and the next pruning removes the rest. Rejects
 * with STATE_LOCKED while another one does the same.
 */
export async function prune(options: PruneOptions): Promise<Pruning> {
  const { stateDir, recordingDir } = options;
  mkdirSync(join(stateDir, 'locks'), { recursive: true, mode: 0o700 });
  const lock = takeFileLock(join(stateDir, 'locks', 'prune.lock'));
  if (lock === undefined) {
    throw new GannetError('STATE_LOCKED', `another process is pruning ${stateDir}: try again when it has ended`);
  }
  try {
    for (const folder of [join(stateDir, 'runs'), recordingDir]) await emptyTrash(folder);
    await packLeftovers(options);
    const packedSwaps = await packJournals(options);
    const { inventory, plan } = await planOf(options);
    await removePieces(plan, options.interrupt);
    await removeOldRuns(options);
    return { plan, before: inventory.usage, after: await usageOf(options), packedSwaps };
  } finally {
    lock.release();
  }
}

async function planOf(options: PruneOptions): Promise<{ readonly inventory: Inventory; readonly plan: PrunePlan }> {
  const inventory = await takeInventory(options, pinOf(options));
  return { inventory, plan: planPruning(inventory, options.config, options) };
}

/** What was recorded since the oldest open swap explains it, and strategies are warmed up with the last hours. */
function pinOf({ stateDir, now, warmupMs }: PruneOptions): { readonly at: Millis; readonly why: string } {
  const open = oldestOpenSwap(stateDir);
  if (open === 'unknown') return { at: -Infinity, why: 'the journal is of an older version: start the daemon once' };
  const warmup = now - Math.max(HOUR_MS, warmupMs + HOUR_MS);
  return open !== undefined && open - HOUR_MS < warmup ? { at: open - HOUR_MS, why: 'a swap is open since then' }
    : { at: warmup, why: `within the last ${formatDuration(now - warmup)}` };
}

/** The hours of a recording go together: a recording begins at one hour. */
async function removePieces({ pieces }: PrunePlan, interrupt: AbortSignal | undefined): Promise<void> {
  const recordings = new Map<string, { readonly before: string; readonly runDir: string }>();
  for (const { piece: { target, until } } of pieces) {
    if (target.do !== 'hour') continue;
    const before = hourName(Math.max(until, endOf(recordings.get(target.directory)?.before)));
    recordings.set(target.directory, { before, runDir: target.runDir });
  }
  for (const [directory, hours] of recordings) {
    if (interrupt?.aborted === true) return;
    await removeHours(directory, hours);
  }
  for (const { piece } of pieces) {
    if (interrupt?.aborted === true) return;
    await removeFiles(piece);
  }
}

function endOf(hour: string | undefined): Millis {
  return hour === undefined ? 0 : Date.parse(`${hour}:00:00Z`);
}

async function removeFiles({ target }: Piece): Promise<void> {
  if (target.do === 'hour') return;
  if (target.do === 'file') {
    await rm(target.path, { force: true });
    return;
  }
  notePruned(target.runDir, { decisions: true });
  if (target.do === 'part') {
    await rm(target.path, { force: true });
    return;
  }
  await removeFolder(join(target.runDir, 'code'));
  await rm(join(target.runDir, DECISIONS_FILE), { force: true });
}

/** Without its last hour the recording goes as a whole, unless it is being written. */
async function removeHours(
  directory: string, { before, runDir }: { readonly before: string; readonly runDir: string },
): Promise<void> {
  const hours = await recordedHours(directory);
  if (hours.some(({ hour }) => hour >= before) || isBeingWritten(directory)) {
    await pruneHours(directory, before);
    return;
  }
  notePruned(runDir, { recording: true });
  await moveToTrash(directory);
}

/** From the rename on no reader finds the folder; its files then go one by one. */
async function moveToTrash(folder: string): Promise<void> {
  const trash = join(dirname(folder), TRASH);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  await rename(folder, join(trash, basename(folder)));
  await emptyTrash(dirname(folder));
}

async function emptyTrash(folder: string): Promise<void> {
  const trash = join(folder, TRASH);
  await removeFolder(trash);
}

async function removeFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const { path } of await filesIn(folder)) await rm(path, { force: true });
  for (const name of await namesIn(folder)) await removeFolder(join(folder, name));
  await rmdir(folder);
}

/** A process that ended while it compressed a part left it as it was; else a part is compressed at once. */
async function packLeftovers({ stateDir, now }: PruneOptions): Promise<void> {
  const runs = await namesIn(join(stateDir, 'runs'));
  const files = runs.filter((name) => runStartOf(name) !== undefined).flatMap((name) =>
    [join(stateDir, 'runs', name, DECISIONS_FILE), join(stateDir, 'logs', `${name}.log`)]);
  for (const { path, number } of files.flatMap((file) => [...partsOf(file)])) {
    if (Number.isFinite(number) && !path.endsWith('.zst')
        && now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > HOUR_MS) await pack(path);
  }
}

function journalsOf({ stateDir }: Places): string[] {
  return (['live', 'paper'] as const).map((mode) => journalPath(stateDir, mode)).filter((path) => existsSync(path));
}

async function packJournals({ config, now, interrupt, ...places }: PruneOptions): Promise<number> {
  let packed = 0;
  for (const path of journalsOf(places)) {
    const packer = openSwapPacker(path);
    try {
      for (let done = 1; packer !== undefined && done > 0 && interrupt?.aborted !== true; packed += done) {
        done = packer.step(now - config.journal.maxAgeMs);
        await nextTurn();
      }
    } finally {
      packer?.close();
    }
  }
  return packed;
}

/** The folders of the newest runs stay with their manifests: they name tokens, and prove that there was a run. */
async function removeOldRuns({ stateDir, recordingDir, config, now }: PruneOptions): Promise<void> {
  const folder = join(stateDir, 'runs');
  const runs = (await namesIn(folder)).filter((name) => runStartOf(name) !== undefined);
  const old = runs.slice(0, Math.max(0, runs.length - KEPT_RUNS));
  if (old.length === 0) return;
  const known = new Set<string>();
  for (const name of runs.slice(old.length)) for (const mint of mintsOf(join(folder, name))) known.add(mint);
  for (const name of old) {
    const files = await sizeOfFolder(join(folder, name, 'code'));
    const isWhole = files.bytes > 0 || partsOf(join(folder, name, DECISIONS_FILE)).length > 0
      || existsSync(join(recordingDir, name)) || runStartOf(name)! > now - config.runs.maxAgeMs;
    if (!isWhole && mintsOf(join(folder, name)).every((mint) => known.has(mint)))
      await moveToTrash(join(folder, name));
  }
}

/** An unreadable manifest names nothing. */
function mintsOf(runDir: string): string[] {
  try {
    return readManifest(runDir).config.tokens.map(({ mint }) => mint);
  } catch {
    return [];
  }
}
