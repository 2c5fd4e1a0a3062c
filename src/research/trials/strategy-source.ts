import { createHash } from 'node:crypto';
import { accessSync, constants, globSync, readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON, isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findStrategy } from '../../config/strategy-file.ts';
import { isGannetName, isSharedPackage } from '../../core/shared-modules.ts';
import { isOwnCode, PROJECT_DIR } from '../../core/code-files.ts';
import { GannetError } from '../../core/errors.ts';
import type { CodeData, ThreadSetup, ThreadStrategy } from './thread-setup.ts';

/** The code of a strategy. */
interface StrategyCode {
  /** Its file, those that it imports from beside it, and its JSON files. */
  readonly text: string;
  /** The SHA-256 of the text, hex. */
  readonly hash: string;
  readonly data: readonly CodeData[];
  /** The packages that these import, with their versions. */
  readonly packages: readonly string[];
}

/** Returns the code of a strategy. Throws STRATEGY_INVALID when its file is missing. */
export async function strategyText(use: string, places: ThreadSetup['places']): Promise<StrategyCode> {
  const { file, files } = await strategyFiles(use, places);
  const text = files.map((file) => file.text).join('\n');
  return { text, hash: sha256(text), data: dataOf(file, files), packages: importedPackages(files) };
}

function dataOf(file: string, files: readonly SourceFile[]): CodeData[] {
  const folder = dirname(file);
  return files.flatMap(({ from, text }) => {
    const path = DATA.test(from) ? pathWithin(folder, from) : undefined;
    return path === undefined ? [] : [{ path, name: relative(realpathSync(folder), path), hash: sha256(text) }];
  });
}

/**
 * Returns the file of a strategy and the files that it imports from beside it, none of them run. Throws
 * STRATEGY_INVALID when its file is missing.
 */
export async function strategyFiles(
  use: string, places: ThreadSetup['places'],
): Promise<{ readonly file: string; readonly files: readonly SourceFile[] }> {
  const found = await findStrategy(use, places);
  if (typeof found === 'string') throw new GannetError('STRATEGY_INVALID', found);
  const { file } = found;
  return { file, files: filesFrom(file, dirname(file), new Set()) };
}

/**
 * Returns the SHA-256 of a strategy's code without its packages, hex. Throws STRATEGY_INVALID when its file is missing.
 */
export async function strategyHash(use: string, places: ThreadSetup['places']): Promise<string> {
  return (await strategyText(use, places)).hash;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Throws STRATEGY_INVALID when the code of a strategy has changed since the command began, because results would be
 * attributed to the wrong code.
 */
export async function refuseOtherCode(
  { name, use, codeHash }: Pick<ThreadStrategy, 'name' | 'use' | 'codeHash'>, places: ThreadSetup['places'],
): Promise<void> {
  if (codeHash === undefined || await strategyHash(use, places) === codeHash) return;
  throw new GannetError(
    'STRATEGY_INVALID', `the code of strategy ${name} was changed while the command ran; start it again`,
  );
}

/** A file of a strategy, with what it imports from elsewhere. */
export interface SourceFile extends PackageImports {
  readonly text: string;
}

const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["']([^"'\n]+)["']/g;
const RELATIVE = /^\.{1,2}\//;
const DATA = /\.json$/;
/** A text that may be the path of a JSON file. */
const NAMED_DATA = /["'`]([^"'`\n]{1,200}\.json)["'`]/g;

/** Returns what source texts import from elsewhere, each once; a text that only resembles an import is among it. */
export function packagesIn(text: string): string[] {
  const named = new Set([...text.matchAll(IMPORT)].map(([, path]) => path!));
  return [...named].filter((path) => !RELATIVE.test(path)).toSorted();
}

/**
 * A file, the files that it imports by relative path, and the JSON files of `folder` that it names, without the
 * project's own.
 */
function filesFrom(file: string, folder: string, seen: Set<string>): SourceFile[] {
  if (seen.has(file) || isOwnCode(file)) return [];
  seen.add(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // A text that only resembles an import names no file. A file that is really missing prevents the strategy from
    // loading.
    return [];
  }
  if (DATA.test(file)) return [{ from: file, text, specifiers: [] }];
  const named = [...text.matchAll(IMPORT)].map(([, path]) => path!);
  const beside = named.filter((path) => RELATIVE.test(path)).map((path) => resolve(dirname(file), path));
  const data = [...text.matchAll(NAMED_DATA)].map(([, path]) => resolve(dirname(file), path!))
    .filter((path) => pathWithin(folder, path) !== undefined);
  return [
    { from: file, text, specifiers: named.filter((path) => !RELATIVE.test(path)) },
    ...[...beside, ...data].flatMap((path) => filesFrom(path, folder, seen)),
  ];
}

/** Returns the path of a file without links where it lies in a folder, or in one below it. */
function pathWithin(folder: string, path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return real.startsWith(join(realpathSync(folder), sep)) ? real : undefined;
  } catch {
    // There is no such file.
    return undefined;
  }
}

/** Where packages are imported, and what is asked for there. */
interface PackageImports {
  /** The importing file, absolute. */
  readonly from: string;
  readonly specifiers: readonly string[];
}

/**
 * Returns the imported packages with name and version, and their dependencies in turn, sorted. A package outside
 * `node_modules` is linked, and its code is included. Packages that are not found are left out.
 */
export function importedPackages(imports: readonly PackageImports[]): string[] {
  const found = new Map<string, string>();
  for (const { from, specifiers } of imports) for (const specifier of specifiers) follow(specifier, from, found);
  return [...found.values()].toSorted();
}

function follow(specifier: string, from: string, found: Map<string, string>): void {
  // The code of Gannet itself is part of what results depend on without being named.
  if (isBuiltin(specifier) || isGannetName(specifier)) return;
  const file = packageFile(specifier, isSharedPackage(specifier) ? join(PROJECT_DIR, 'package.json') : from);
  if (file === undefined || found.has(file)) return;
  const { name, version, dependencies } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as { readonly name?: unknown; readonly version?: unknown; readonly dependencies?: object };
  const folder = dirname(file);
  const isInstalled = folder.includes(`${sep}node_modules${sep}`);
  found.set(file, [`${String(name)} ${String(version)}`, ...(isInstalled ? [] : sourceTexts(folder))].join('\n'));
  for (const dependency of Object.keys(dependencies ?? {})) follow(dependency, file, found);
}

/** Returns the package.json of an imported package; undefined where it is not there, which loading it will tell. */
export function packageFile(specifier: string, from: string): string | undefined {
  try {
    const file = findPackageJSON(specifier, pathToFileURL(from));
    // Where a box ends below the package, Node returns the module itself.
    if (file === undefined || basename(file) !== 'package.json') return undefined;
    // A box of a build reads the packages that the build does not include; the others are part of its files.
    accessSync(file, constants.R_OK);
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Returns the source files of a folder without its packages, each under its path from there, sorted. */
export function sourceTexts(folder: string): string[] {
  return sourcePaths(folder).map((path) => `${path}\n${readFileSync(join(folder, path), 'utf8')}`);
}

/** Returns the paths of the source files of a folder, from there, without its packages, sorted. */
export function sourcePaths(folder: string): string[] {
  return globSync('**/*.{ts,mts,cts,js,mjs,cjs}', { cwd: folder, exclude: (path) => path.endsWith('node_modules') })
    .toSorted();
}
