import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { IS_SOURCE, PROJECT_DIR } from '../core/code-files.ts';
import { noteStrategy } from '../core/shared-modules.ts';
import { nearest } from '../core/text.ts';
import type { Strategy } from '../strategy/define.ts';
import { safeText } from './config-issue.ts';
import type { LoadFault } from './strategies/ask-strategy.ts';
import { importModule } from './strategies/ask-strategy.ts';
import { findPackaged, otherVersion, PACKAGE_PREFIX } from './strategies/strategy-package.ts';

/** Where the code of a strategy is. */
export interface StrategyFile {
  /** Absolute. */
  readonly file: string;
  /** Whether the file is one of the project's own `strategies/`. */
  readonly origin: 'project' | 'path';
}

/** A strategy with where it comes from. */
interface ImportedStrategy extends StrategyFile {
  readonly strategy: Strategy;
}

const STRATEGY_NAME = /^[a-z][a-z0-9-]{0,62}$/;
/** What the files of Gannet's own strategies end with. */
const ENDING = IS_SOURCE ? '.ts' : '.js';
const MODULE_ENDING = /\.[cm]?[jt]s$/;

/** The folders that `use` is resolved in: names in the first, paths from the second. */
export interface StrategyPlaces {
  readonly strategiesDir: string;
  readonly baseDir: string;
}

/**
 * Returns the file that `use` names, a file of `strategiesDir`, a path from `baseDir` or a package installed there, or
 * else what is wrong. Runs none of its code.
 */
export async function findStrategy(use: string, places: StrategyPlaces): Promise<StrategyFile | string> {
  const found = use.startsWith(PACKAGE_PREFIX) ? findPackaged(use, places.baseDir) : await findFile(use, places);
  if (typeof found !== 'object') return found;
  const inside = relative(places.strategiesDir, found.path);
  const origin = inside.startsWith(`..${sep}`) || isAbsolute(inside) ? 'path' : 'project';
  noteStrategy(found.path);
  return (origin === 'path' ? otherVersion(found.path) : undefined) ?? { file: found.path, origin };
}

/** Returns the strategy that `use` names, or else what is wrong. Importing runs the file. */
export async function importStrategy(use: string, places: StrategyPlaces): Promise<ImportedStrategy | string> {
  const found = await findStrategy(use, places);
  return typeof found === 'string' ? found : importFound(found, use);
}

/**
 * Returns the strategy of the file that `use` names, or else what is wrong. Importing runs the file, once for each
 * `query` that is added to its address.
 */
export async function importFound(found: StrategyFile, use: string, query = ''): Promise<ImportedStrategy | string> {
  const module = await importModule(found.file, query);
  if ('answer' in module) return loadFault(use, module.answer);
  return { ...found, strategy: module.strategy };
}

/** Returns why the file that `use` names gave no strategy. */
export function loadFault(use: string, answer: LoadFault): string {
  return answer.kind === 'not-loaded'
    ? `strategy "${safeText(use, 60)}" cannot be loaded: ${safeText(answer.message)}`
    : `expected the default export of ${safeText(use, 60)} to be what defineStrategy returns: export default `
      + 'defineStrategy({ … })';
}

/**
 * Returns a `use` that finds a file of `strategiesDir` from anywhere, with that folder as the base of paths: its name,
 * or else its path in there.
 */
export function recordedUseOf(strategiesDir: string, file: string): string {
  const path = relative(strategiesDir, file);
  const name = path.replace(/(?:[\\/]index)?\.[jt]s$/, '');
  return STRATEGY_NAME.test(name) ? name : `./${path}`;
}

async function findFile(
  use: string, { strategiesDir, baseDir }: StrategyPlaces,
): Promise<{ path: string } | string> {
  if (use.includes('/') || use.includes('\\') || MODULE_ENDING.test(use)) {
    const path = resolve(baseDir, use);
    return await isFile(path) ? { path } : `there is no file ${safeText(path)}`;
  }
  if (!STRATEGY_NAME.test(use)) {
    return 'expected the name of a file in strategies/, a path such as "./my-strategy.ts", or a package such as '
      + `"npm:my-package", got "${safeText(use, 60)}"`;
  }
  for (const candidate of [use + ENDING, join(use, `index${ENDING}`)]) {
    const path = join(strategiesDir, candidate);
    if (await isFile(path)) return { path };
  }
  const known = await listStrategies(strategiesDir);
  const close = nearest(use, known);
  return `there is no strategy "${use}" in strategies/${close === undefined ? '' : ` (did you mean "${close}"?)`}; `
    + `known are ${known.join(', ')}`;
}

/** Where the configurations of Gannet's own strategies are; some are examples of the documents as well. */
const SHIPPED_CONFIGS = [join('config', 'strategies'), 'config'];

/** Returns the configuration that comes with one of Gannet's own strategies, absolute. */
export function shippedConfig({ file, origin }: StrategyFile): string | undefined {
  if (origin !== 'project') return undefined;
  const name = recordedUseOf(join(file, '..'), file);
  return SHIPPED_CONFIGS.map((folder) => join(PROJECT_DIR, folder, `${name}.yaml`)).find(existsSync);
}

/** Returns the names that `use` can take from a folder of strategies, sorted. */
export async function listStrategies(strategiesDir: string): Promise<string[]> {
  const entries = await readdir(strategiesDir, { withFileTypes: true });
  const names = await Promise.all(entries.map(async (entry) => {
    if (entry.isDirectory()) {
      return await isFile(join(strategiesDir, entry.name, `index${ENDING}`)) ? entry.name : undefined;
    }
    return entry.name.endsWith(ENDING) ? entry.name.slice(0, -ENDING.length) : undefined;
  }));
  const found: string[] = names.filter((name) => name !== undefined);
  return found.filter((name) => STRATEGY_NAME.test(name)).sort();
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // A file that is missing or cannot be read does not exist for the caller.
    return false;
  }
}
