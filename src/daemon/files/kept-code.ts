import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ModuleFormat } from 'node:module';
import { registerHooks } from 'node:module';
import { extname, isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importModule } from '../../config/strategies/ask-strategy.ts';
import { loadFault } from '../../config/strategy-file.ts';
import { PROJECT_DIR } from '../../core/code-files.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { strategyFiles, strategyText } from '../../research/trials/strategy-source.ts';
import type { Strategy } from '../../strategy/define.ts';

/** A copy of a strategy's code, as a run keeps it to be repeated after the files have changed. */
export interface CodeCopy {
  /** The SHA-256 of the code. */
  readonly sha256: string;
  /** The strategy's own file; paths within the project are relative to it. */
  readonly file: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** Returns a copy of the code of a strategy's file. Throws STRATEGY_INVALID when it is missing. */
export async function copyCode(file: string): Promise<CodeCopy> {
  const places = { strategiesDir: PROJECT_DIR, baseDir: PROJECT_DIR };
  const { files } = await strategyFiles(file, places);
  return {
    sha256: (await strategyText(file, places)).hash,
    file: fromProject(file),
    files: files.map(({ from, text }) => ({ path: fromProject(from), text })),
  };
}

/** Returns the files that a copy was made of, absolute. */
export function filesOf({ files }: CodeCopy): string[] {
  return files.map(({ path }) => resolve(PROJECT_DIR, path));
}

/** Writes a copy into a run's folder, whole or not at all. */
export function writeCodeCopy(runDir: string, copy: CodeCopy): void {
  const path = pathOf(runDir, copy.sha256);
  mkdirSync(join(runDir, FOLDER), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, stringifyJson(copy, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Imports the strategy of a copy in a run's folder. Throws RUN_NOT_FOUND without the copy, and STRATEGY_INVALID. */
export async function importKept(runDir: string, sha256: string): Promise<Strategy> {
  const { file, files } = readCopy(runDir, sha256);
  if (copies.size === 0) hookModules();
  copies.set(sha256, new Map(files.map(({ path, text }) => [urlOf(path), text])));
  const module = await importModule(resolve(PROJECT_DIR, file), `${QUERY}${sha256}`);
  if (!('answer' in module)) return module.strategy;
  throw new GannetError('STRATEGY_INVALID',
    `the run's copy ${pathOf(runDir, sha256)}: ${loadFault(file, module.answer)}`);
}

const FOLDER = 'code';
const QUERY = '?kept=';
const RELATIVE = /^\.{1,2}\//;
const FORMATS: Readonly<Record<string, ModuleFormat>> = {
  '.ts': 'module-typescript', '.mts': 'module-typescript', '.cts': 'commonjs-typescript', '.js': 'module',
  '.mjs': 'module', '.cjs': 'commonjs', '.json': 'json',
};

/** The texts of the copies that were imported, by the address of each file. */
const copies = new Map<string, ReadonlyMap<string, string>>();

function fromProject(file: string): string {
  const path = relative(PROJECT_DIR, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

function urlOf(path: string): string {
  return pathToFileURL(resolve(PROJECT_DIR, path)).href;
}

function pathOf(runDir: string, sha256: string): string {
  return join(runDir, FOLDER, `${sha256}.json`);
}

function readCopy(runDir: string, sha256: string): CodeCopy {
  const path = pathOf(runDir, sha256);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as CodeCopy;
  } catch (cause) {
    throw new GannetError('RUN_NOT_FOUND',
      `${path}: the copy of a strategy's code that the run kept cannot be read: ${messageOf(cause)}; restore the file`
        + ' from a copy', { cause });
  }
}

/** Returns the copy that an address belongs to, and the address of the file without it. */
function keptAt(url: string | undefined): { readonly sha256: string; readonly base: string } | undefined {
  const at = url?.indexOf(QUERY) ?? -1;
  return at < 0 ? undefined : { sha256: url!.slice(at + QUERY.length), base: url!.slice(0, at) };
}

/** Lets modules whose address names a copy come from it, and those that they import from beside them. */
function hookModules(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      const parent = keptAt(context.parentURL);
      const own = keptAt(specifier) ?? (parent === undefined || !RELATIVE.test(specifier) ? undefined
        : { sha256: parent.sha256, base: new URL(specifier, parent.base).href });
      return own !== undefined && copies.get(own.sha256)?.has(own.base) === true
        ? { url: `${own.base}${QUERY}${own.sha256}`, importAttributes: context.importAttributes, shortCircuit: true }
        : next(specifier, context);
    },
    load: (url, context, next) => {
      const kept = keptAt(url);
      const source = kept === undefined ? undefined : copies.get(kept.sha256)?.get(kept.base);
      return source === undefined ? next(url, context)
        : { source, format: FORMATS[extname(kept!.base)] ?? 'module', shortCircuit: true };
    },
  });
}
