import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CommandContext } from '../command.ts';
import type { PreparedCall } from './boxed-context.ts';
import type { ConfigNode } from '../../config/config-tree.ts';
import { nodeAt } from '../../config/config-tree.ts';
import { variablesOf, withoutConnections } from '../../config/interpolate.ts';
import { STRATEGIES_DIR } from '../../core/code-files.ts';
import { parseYaml } from '../../config/yaml-source.ts';
import { GannetError, isNoRoom, messageOf } from '../../core/errors.ts';
import { recordingOfRun, runDirOf } from '../../daemon/files/find-run.ts';
import { readManifest } from '../../daemon/files/run-manifest.ts';
import type { BoxGrants } from '../../research/box/boxed-process.ts';
import { strategyGrants } from '../../research/box/strategy-grants.ts';

/** The box of a command. */
interface CommandBox {
  readonly grants: BoxGrants;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns what a command may read, write and know. No code of a strategy runs for that. */
export async function commandBox({ options, environment }: CommandContext, call: PreparedCall): Promise<CommandBox> {
  const stateDir = resolve(options.stateDir);
  const { file, grid, report, trades, recordingDir, runDir, runId } = call;
  const readable: string[] = [recordingDir, grid].flatMap((path) => (path === undefined ? [] : [resolve(path)]));
  const writable: string[] = [];
  let known: CommandBox['environment'] = {};
  if (file !== undefined) {
    const config = readConfig(resolve(file));
    readable.push(resolve(file), ...await strategyGrants(usesIn(config),
      { strategiesDir: STRATEGIES_DIR, baseDir: dirname(resolve(file)) }, { stateDir }));
    known = Object.fromEntries((config === undefined ? [] : variablesOf(withoutConnections(config)))
      .map((name) => [name, environment[name]]));
  }
  if (runDir !== undefined) {
    const { config, warmup } = readManifest(runDir);
    const earlier = (warmup?.recordings ?? []).map(({ recording }) => resolve(runDir, recording));
    readable.push(runDir, ...recordingOf(runDir), ...earlier, ...await strategyGrants(
      config.strategies.map(({ use }) => use), { strategiesDir: STRATEGIES_DIR, baseDir: STRATEGIES_DIR },
      { stateDir }));
  }
  for (const output of [report, trades])
    if (output !== undefined) writable.push(resolve(output), `${resolve(output)}.new`);
  if (call.command === 'backtest') writable.push(runDirOf(stateDir, runId));
  if (call.command === 'sweep') writable.push(join(stateDir, 'sweeps'));
  return { grants: { readable: [...readable, ...writable], writable }, environment: known };
}

/**
 * Creates the folder of a command, because a folder is granted with its contents only if it exists. Returns a function
 * that removes what was created and not used. Throws USAGE, and DISK_FULL.
 */
export function createFolder(
  { stateDir }: { readonly stateDir: string }, { command, runId }: PreparedCall,
): () => void {
  const folder = command === 'backtest' ? runDirOf(resolve(stateDir), runId)
    : command === 'sweep' ? join(resolve(stateDir), 'sweeps') : undefined;
  if (folder === undefined) return () => undefined;
  try {
    const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
    return () => { if (first !== undefined) removeUnused(folder, first); };
  } catch (cause) {
    throw new GannetError(
      isNoRoom(cause) ? 'DISK_FULL' : 'USAGE', `${folder} cannot be created: ${messageOf(cause)}; `
        + 'give another folder with --state-dir', { cause },
    );
  }
}

/** Removes a folder and the folders around it, up to the first that was created, as long as they are empty. */
function removeUnused(folder: string, first: string): void {
  for (let path = folder; path.startsWith(first); path = dirname(path)) {
    if (!existsSync(path)) continue;
    if (readdirSync(path).length > 0) return;
    rmdirSync(path);
  }
}

/** A file that cannot be read or parsed names no strategies: loading the configuration says why. */
function readConfig(file: string): ConfigNode | undefined {
  try {
    return existsSync(file) ? parseYaml(readFileSync(file, 'utf8')).root : undefined;
  } catch {
    return undefined;
  }
}

function usesIn(config: ConfigNode | undefined): string[] {
  const list = config === undefined ? undefined : nodeAt(config, ['strategies']);
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item) => {
    const use = item.kind === 'map' ? item.members.get('use') : undefined;
    return use?.kind === 'scalar' && typeof use.value === 'string' ? [use.value] : [];
  });
}

/** A run without a recording cannot be replayed, which the command says. */
function recordingOf(runDir: string): string[] {
  try {
    return [recordingOfRun(runDir)];
  } catch {
    return [];
  }
}
