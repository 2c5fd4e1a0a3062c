import { existsSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Millis } from '../../core/time.ts';
import { namesIn, filesIn, sizeOfFolder } from '../../recording/files/folder-files.ts';
import { MANIFEST_FILE } from '../../recording/format.ts';
import { KEEP_FILE, recordedHours } from '../../recording/pruning.ts';
import { isBeingWritten } from '../../recording/recording-files.ts';
import { openJournalView } from '../../store/journal-reader.ts';
import { journalPath, runDirOf, runStartOf } from '../files/find-run.ts';
import { partsOf } from '../files/rolled-file.ts';
import { DECISIONS_FILE } from '../files/run-files.ts';
import type { RunManifest } from '../files/run-manifest.ts';
import { readManifest } from '../files/run-manifest.ts';

/** The kinds of files that the retention deletes. */
export type PieceKind = 'recordings' | 'runs' | 'logs';

/** What can be deleted by itself. */
export interface Piece {
  readonly kind: PieceKind;
  /** For people: the run or the log, and which part of it. */
  readonly name: string;
  readonly what: string;
  /** The time of its newest content. */
  readonly until: Millis;
  readonly bytes: number;
  /** Why it is not deleted; undefined where it may be. */
  readonly pinned?: string | undefined;
  readonly target: Target;
}

type Target =
  | { readonly do: 'hour'; readonly directory: string; readonly hour: string; readonly runDir: string }
  | { readonly do: 'part'; readonly path: string; readonly runDir: string }
  | { readonly do: 'run-files'; readonly runDir: string }
  | { readonly do: 'file'; readonly path: string };

/** The sizes of a state directory and its folder of recordings, in bytes. */
export interface Usage {
  readonly recordings: number;
  readonly runs: number;
  readonly logs: number;
  readonly journal: number;
  readonly history: number;
  readonly other: number;
  readonly total: number;
}

/** What a state directory holds. */
export interface Inventory {
  /** Oldest first. */
  readonly pieces: readonly Piece[];
  readonly usage: Usage;
}

/** Where a daemon keeps its files. */
export interface Places {
  readonly stateDir: string;
  readonly recordingDir: string;
}

const PINNED_BY_HAND = 'kept manually';
const STILL_WRITTEN = 'the newest run';

/**
 * Lists what a state directory holds, one file at a time. Nothing after `pinnedSince` may be deleted. Recordings that
 * no run of this state directory made, and backtests, count in the sizes and are no pieces: a person made them.
 */
export async function takeInventory(
  { stateDir, recordingDir }: Places, pinnedSince: { readonly at: Millis; readonly why: string },
): Promise<Inventory> {
  const pieces: Piece[] = [];
  const runs = (await namesIn(join(stateDir, 'runs'))).filter((name) => runStartOf(name) !== undefined);
  for (const [index, name] of runs.entries()) {
    const runDir = runDirOf(stateDir, name);
    const pinned = index === runs.length - 1 ? STILL_WRITTEN : undefined;
    const recording = join(recordingDir, name);
    const isKept = existsSync(join(runDir, KEEP_FILE)) || existsSync(join(recording, KEEP_FILE));
    const own = [...await runPieces(runDir, pinned), ...await recordingPieces(recording, runDir)];
    pieces.push(...(isKept ? own.map((piece) => ({ ...piece, pinned: PINNED_BY_HAND })) : own));
  }
  pieces.push(...await logPieces(join(stateDir, 'logs'), runs.at(-1)));
  const held = pieces.map((piece) => (piece.pinned === undefined && piece.until > pinnedSince.at
    && piece.kind !== 'logs' ? { ...piece, pinned: pinnedSince.why } : piece));
  return { pieces: held.sort((a, b) => a.until - b.until), usage: await usageOf({ stateDir, recordingDir }) };
}

/** The hours of a run's recording. The hour that is being written is always newer than what is deleted. */
async function recordingPieces(directory: string, runDir: string): Promise<Piece[]> {
  if (!existsSync(join(directory, MANIFEST_FILE))) return [];
  return (await recordedHours(directory)).map(({ hour, until, bytes }): Piece => ({
    kind: 'recordings', name: basename(directory), what: `the hour of ${hour.replace('T', ' ')}:00 UTC`, until, bytes,
    target: { do: 'hour', directory, hour, runDir },
  }));
}

/** The closed parts of a run's decisions, then everything else but the manifest. */
async function runPieces(runDir: string, pinned: string | undefined): Promise<Piece[]> {
  const name = basename(runDir);
  const closed = new Set(partsOf(join(runDir, DECISIONS_FILE)).filter(({ number }) => Number.isFinite(number))
    .map(({ path }) => path));
  const parts = (await filesIn(runDir)).filter(({ path }) => closed.has(path)).map((file): Piece => ({
    kind: 'runs', name, what: file.name, until: file.changedAt, bytes: file.size,
    target: { do: 'part', path: file.path, runDir },
  }));
  const rest = (await filesIn(runDir)).filter((file) => file.name === DECISIONS_FILE);
  const code = await sizeOfFolder(join(runDir, 'code'));
  const bytes = rest.reduce((sum, { size }) => sum + size, code.bytes);
  if (bytes === 0) return parts;
  const until = Math.max(code.changedAt, ...rest.map(({ changedAt }) => changedAt));
  return [...parts, {
    kind: 'runs', name, what: 'decisions and code', until, bytes, pinned, target: { do: 'run-files', runDir },
  }];
}

async function logPieces(folder: string, newestRun: string | undefined): Promise<Piece[]> {
  return (await filesIn(folder)).map(({ name, path, size, changedAt }): Piece => ({
    kind: 'logs', name, what: 'log', until: changedAt, bytes: size, target: { do: 'file', path },
    pinned: name === `${newestRun}.log` ? STILL_WRITTEN : undefined,
  }));
}

/** Returns the sizes of a state directory and of its runs' recordings. */
export async function usageOf({ stateDir, recordingDir }: Places): Promise<Usage> {
  const sizeOf = async (...names: string[]): Promise<number> => (await sizeOfFolder(join(stateDir, ...names))).bytes;
  const isInside = !relative(stateDir, recordingDir).startsWith('..');
  const outside = isInside ? [] : (await namesIn(join(stateDir, 'runs'))).map((name) => join(recordingDir, name));
  let recordings = isInside ? (await sizeOfFolder(recordingDir)).bytes : 0;
  for (const folder of outside) recordings += (await sizeOfFolder(folder)).bytes;
  const top = await filesIn(stateDir);
  const named = (prefix: string): number =>
    top.filter(({ name }) => name.startsWith(prefix)).reduce((sum, { size }) => sum + size, 0);
  const sizes = {
    recordings, runs: await sizeOf('runs'), logs: await sizeOf('logs'), journal: named('journal'),
    history: named('history'),
  };
  const total = await sizeOf() + (isInside ? 0 : recordings);
  const known = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  return { ...sizes, other: total - known, total };
}

/** Returns when the oldest open swap was approved, undefined without one; "unknown" for an older journal. */
export function oldestOpenSwap(stateDir: string): Millis | 'unknown' | undefined {
  const since = (['live', 'paper'] as const).flatMap((mode): (Millis | 'unknown')[] => {
    const journal = openJournalView(journalPath(stateDir, mode));
    if (journal === undefined) return ['unknown'];
    try {
      return journal.openIntents().map(({ intent }) => intent.createdAt);
    } finally {
      journal.close();
    }
  });
  return since.includes('unknown') ? 'unknown'
    : since.length === 0 ? undefined : Math.min(...since.map(Number));
}

/** A run or a recording as the lists show it. */
export interface ListedRun {
  readonly name: string;
  readonly dir: string;
  readonly manifest: RunManifest | undefined;
  readonly isWritten: boolean;
  readonly isKept: boolean;
}

/** Returns the daemon's runs, newest first; those with a damaged manifest without it. */
export async function listRuns({ stateDir, recordingDir }: Places): Promise<readonly ListedRun[]> {
  const names = (await namesIn(join(stateDir, 'runs'))).filter((name) => runStartOf(name) !== undefined);
  return names.toReversed().map((name) => {
    const [dir, recording] = [runDirOf(stateDir, name), join(recordingDir, name)];
    return {
      name, dir, manifest: manifestOf(dir), isWritten: isBeingWritten(recording),
      isKept: existsSync(join(dir, KEEP_FILE)) || existsSync(join(recording, KEEP_FILE)),
    };
  });
}

function manifestOf(dir: string): RunManifest | undefined {
  try {
    return readManifest(dir);
  } catch {
    return undefined;
  }
}
