import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Mint, Token, TokenTable } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import { refusePrunedRun } from './pruned-run.ts';
import type { RunManifest } from './run-manifest.ts';
import { readManifest } from './run-manifest.ts';

const RUN_ID = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)-[0-9a-f]{6}$/;

/** Returns a new run id. Run ids sort by time: they begin with the UTC second of the start. */
export function newRunId(clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().replace(/[-:]/g, '').slice(0, 15);
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}

/** Returns when the run of this id started, to the second; undefined for other names. */
export function runStartOf(runId: string): Millis | undefined {
  return RUN_ID.test(runId) ? Date.parse(runId.replace(RUN_ID, '$1-$2-$3T$4:$5:$6Z')) : undefined;
}

/** Returns the folder of a run's files. */
export function runDirOf(stateDir: string, runId: string): string {
  return join(stateDir, 'runs', runId);
}

/** Returns the folder of a run given by its id or by a path. Throws RUN_NOT_FOUND. */
export function findRun(stateDir: string, run: string): string {
  const places = [resolve(run), runDirOf(stateDir, run)];
  const found = places.find((dir) => existsSync(join(dir, 'manifest.json')));
  if (found !== undefined) return found;
  throw new GannetError('RUN_NOT_FOUND',
    `expected a run's id or directory, found no manifest in ${run} or ${runDirOf(stateDir, run)}`);
}

/** The prefix of the ids of backtests. Such a run names the recording that it read, and makes none. */
export const BACKTEST_RUN = 'backtest-';

/** Returns a recording's folder, given by its path, its name, or the run that made it. Throws RECORDING_NOT_FOUND. */
export function findRecording(stateDir: string, name: string): string {
  const run = runDirOf(stateDir, name);
  if (existsSync(join(run, 'manifest.json'))) return recordingOfRun(run);
  for (const dir of [resolve(name), join(stateDir, 'recordings', name)]) {
    if (existsSync(join(dir, 'manifest.json'))) return dir;
  }
  const asked = printable(name, 300);
  const found = existsSync(resolve(name)) ? `${asked} holds no manifest.json` : `there is no folder ${asked}`;
  throw new GannetError('RECORDING_NOT_FOUND',
    `expected a recording's folder or name, or the id of a run, but ${found}, `
    + `and ${stateDir} has no recording or run of that name: ${knownNames(stateDir)}`);
}

const NAMES_SHOWN = 5;

/** A mistyped name is easier to correct beside the newest valid ones. */
function knownNames(stateDir: string): string {
  const runs = namesIn(join(stateDir, 'runs')).filter((name) => !name.startsWith(BACKTEST_RUN));
  // A run keeps its recording under its own name.
  const names = [...new Set([...namesIn(join(stateDir, 'recordings')), ...runs])];
  if (names.length === 0) return 'it has none yet, "gannet recording generate" makes one';
  const more = names.length - NAMES_SHOWN;
  return `it has ${printable(names.slice(0, NAMES_SHOWN).join(', '), 500)}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Newest first. */
function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'manifest.json'))).toSorted().toReversed();
}

/** Returns the folder of the recording that a run made. Throws RECORDING_NOT_FOUND for a run without one. */
export function recordingOfRun(runDir: string): string {
  const { recording, run_id: runId } = readManifest(runDir);
  if (recording === null) {
    throw new GannetError('RECORDING_NOT_FOUND', `run ${runId} made no recording (recording.enabled was false)`);
  }
  const directory = join(runDir, recording);
  if (!existsSync(directory)) refusePrunedRun(runDir);
  return directory;
}

/** A run on disk. */
export interface RunDirectory {
  readonly dir: string;
  readonly manifest: RunManifest;
}

/** Yields the daemon's runs of a state directory, newest first; backtests are none. */
export function* daemonRuns(stateDir: string): Generator<RunDirectory> {
  const runs = join(stateDir, 'runs');
  const names = existsSync(runs) ? readdirSync(runs).sort().reverse() : [];
  for (const name of names) {
    const dir = join(runs, name);
    if (!existsSync(join(dir, 'manifest.json'))) continue;
    const manifest = readManifest(dir);
    if (manifest.mode !== 'backtest') yield { dir, manifest };
  }
}

/** Returns the run of a name, or the latest. Throws RUN_NOT_FOUND. */
export function chosenRun(stateDir: string, name: string | undefined): RunDirectory {
  if (name !== undefined) {
    const dir = findRun(stateDir, name);
    return { dir, manifest: readManifest(dir) };
  }
  const [latest] = daemonRuns(stateDir);
  if (latest === undefined) throw new GannetError('RUN_NOT_FOUND', `${stateDir} holds no run of the daemon yet: start `
    + 'one with "gannet run", or name the state directory with --state-dir');
  return latest;
}

/** Returns the tokens that the latest run knew, none where there was no run. */
export function latestTokens(stateDir: string): TokenTable {
  const [latest] = daemonRuns(stateDir);
  return tokenTable(latest?.manifest.config.tokens ?? []);
}

/** Returns the tokens of these mints, each as the latest run knew it that had it. */
export function knownTokens(stateDir: string, mints: ReadonlySet<Mint>): TokenTable {
  const found = new Map<Mint, Token>();
  for (const { manifest } of daemonRuns(stateDir)) {
    for (const token of manifest.config.tokens)
      if (mints.has(token.mint) && !found.has(token.mint)) found.set(token.mint, token);
    if (found.size === mints.size) break;
  }
  return tokenTable([...found.values()]);
}

/** Returns where a mode keeps its journal. */
export function journalPath(stateDir: string, mode: 'live' | 'paper'): string {
  return join(stateDir, mode === 'paper' ? 'journal-paper.sqlite' : 'journal.sqlite');
}

/** Returns where a mode keeps its samples of equity and prices. */
export function historyPath(stateDir: string, mode: 'live' | 'paper'): string {
  return join(stateDir, mode === 'paper' ? 'history-paper.sqlite' : 'history.sqlite');
}
