import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError } from '../core/errors.ts';
import type { RunManifest } from '../daemon/manifest.ts';
import { findRun, readManifest } from '../daemon/run-files.ts';
import type { TokenTable } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';

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
  if (latest === undefined) throw new GannetError('RUN_NOT_FOUND', `${stateDir} holds no run of the daemon yet: start one with "gannet run", or name the state directory with --state-dir`);
  return latest;
}

/** Returns the tokens that the latest run knew, none where there was no run. */
export function latestTokens(stateDir: string): TokenTable {
  const [latest] = daemonRuns(stateDir);
  return tokenTable(latest?.manifest.config.tokens ?? []);
}

/** Returns where a mode keeps its journal. */
export function journalPath(stateDir: string, mode: 'live' | 'paper'): string {
  return join(stateDir, mode === 'paper' ? 'journal-paper.sqlite' : 'journal.sqlite');
}
