import { createHash } from 'node:crypto';
import { globSync, readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON, isBuiltin } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT_DIR, importStrategy } from '../../config/strategy-file.ts';
import { GannetError } from '../../core/errors.ts';
import type { ThreadSetup, ThreadStrategy } from './thread-setup.ts';

/** The code of a strategy. */
interface StrategyCode {
  /** Its file and those that it imports from beside it. */
  readonly text: string;
  /** The packages that these import, with their versions. */
  readonly packages: readonly string[];
}

/** Returns the code of a strategy. Throws STRATEGY_INVALID when its file is missing. */
export async function strategyText(use: string, places: ThreadSetup['places']): Promise<StrategyCode> {
  const imported = await importStrategy(use, places);
  if (typeof imported === 'string') throw new GannetError('STRATEGY_INVALID', imported);
  const files = filesFrom(imported.file, new Set());
  return { text: files.map(({ text }) => text).join('\n'), packages: importedPackages(files) };
}

/**
 * Returns the SHA-256 of a strategy's code without its packages, hex. Throws STRATEGY_INVALID when its file is missing.
 */
export async function strategyHash(use: string, places: ThreadSetup['places']): Promise<string> {
  return createHash('sha256').update((await strategyText(use, places)).text).digest('hex');
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

interface SourceFile extends PackageImports {
  readonly text: string;
}

const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["']([^"'\n]+)["']/g;
const RELATIVE = /^\.{1,2}\//;

/** A file and the files that it imports by relative path, without the project's own. */
function filesFrom(file: string, seen: Set<string>): SourceFile[] {
  if (seen.has(file) || file.startsWith(join(PROJECT_DIR, 'src'))) return [];
  seen.add(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // A text that only resembles an import names no file. A file that is really missing prevents the strategy from
    // loading.
    return [];
  }
  const named = [...text.matchAll(IMPORT)].map(([, path]) => path!);
  const beside = named.filter((path) => RELATIVE.test(path));
  return [{ from: file, text, specifiers: named.filter((path) => !RELATIVE.test(path)) }, ...beside.flatMap((path) =>
    filesFrom(resolve(dirname(file), path), seen))];
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
  if (isBuiltin(specifier)) return;
  const file = packageFile(specifier, from);
  if (file === undefined || found.has(file)) return;
  const { name, version, dependencies } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as { readonly name?: unknown; readonly version?: unknown; readonly dependencies?: object };
  const folder = dirname(file);
  const isInstalled = folder.includes(`${sep}node_modules${sep}`);
  found.set(file, [`${String(name)} ${String(version)}`, ...(isInstalled ? [] : sourceTexts(folder))].join('\n'));
  for (const dependency of Object.keys(dependencies ?? {})) follow(dependency, file, found);
}

/** Of a package that the code says it imports and that is not there, loading it will tell. */
function packageFile(specifier: string, from: string): string | undefined {
  try {
    const file = findPackageJSON(specifier, pathToFileURL(from));
    return file === undefined ? undefined : realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Returns the source files of a folder without its packages, each under its path from there, sorted. */
export function sourceTexts(folder: string): string[] {
  return globSync('**/*.{ts,mts,cts,js,mjs,cjs}', { cwd: folder, exclude: (path) => path.endsWith('node_modules') })
    .toSorted()
    .map((path) => `${path}\n${readFileSync(join(folder, path), 'utf8')}`);
}
