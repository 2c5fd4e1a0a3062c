import { readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON, isBuiltin } from 'node:module';
import { dirname, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sourceTexts } from './source-texts.ts';

/** Where packages are imported, and what is asked for there. */
export interface PackageImports {
  /** A file, absolute. */
  readonly from: string;
  readonly specifiers: readonly string[];
}

/**
 * Returns what packages are imported, each with its name and version and those that it depends on in turn, sorted. One that
 * does not lie under `node_modules` is somebody's own work, linked there: its code stands beside its version. What is not found is left out.
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
  const { name, version, dependencies } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name?: unknown; readonly version?: unknown; readonly dependencies?: object };
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
