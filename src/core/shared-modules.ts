import type { ResolveFnOutput } from 'node:module';
import { registerHooks } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BUNDLED_PACKAGES, CODE_DIR, entryFile, IS_SOURCE, isOwnCode, STRATEGIES_DIR } from './code-files.ts';

// A strategy has its own copies of the SDK, RxJS or zod in no process: what one copy makes, another does not recognise.

/** What strategies import of Gannet, by name. */
const FACES = { 'gannet': 'gannet', 'gannet/indicators': 'indicators' } as const;
const FACE_NAMES = Object.keys(FACES);
/** What tests of strategies import, and strategies must not. */
const TESTING = 'gannet/testing';
/** The packages that strategies and Gannet share. */
const PACKAGES: ReadonlySet<string> = new Set(['rxjs', 'rxjs/operators', 'trading-signals', 'zod']);
const INSTALLED = `${sep}node_modules${sep}`;

/** The folders of installed packages that hold strategies. */
const strategyPackages = new Set<string>();
let isSharing = false;

/** Whether a module's name means Gannet itself. */
export function isGannetName(specifier: string): boolean {
  return specifier === 'gannet' || specifier.startsWith('gannet/');
}

/** The packages that a build includes, by name. Others are found from Gannet's own files. */
const bundled: ReadonlyMap<string, string> = new Map(IS_SOURCE ? []
  : Object.entries(BUNDLED_PACKAGES).map(([name, file]) => [name, join(CODE_DIR, file)]));

/** Returns the files of Gannet that strategies may import, absolute. */
export function sharedFiles(): string[] {
  return [...Object.values(FACES).map(entryFile), ...bundled.values()];
}

/** Whether a strategy gets Gannet's copy of a package by this name. */
export function isSharedPackage(specifier: string): boolean {
  return PACKAGES.has(specifier);
}

/** Returns why Gannet offers nothing under a name that means it; undefined where it does. */
export function missingFace(specifier: string): string | undefined {
  if (!isGannetName(specifier) || specifier in FACES) return undefined;
  return `${specifier === TESTING ? `"${TESTING}" is for tests` : `there is no "${specifier}"`}: import from ${
    FACE_NAMES.map((name) => `"${name}"`).join(' or ')}`;
}

/**
 * Gives a strategy's file the running Gannet's own copies of the SDK and of the packages that both use, whatever is
 * installed beside the file. The modules of other packages keep the versions that they were installed with.
 */
export function shareModules(file: string): void {
  noteStrategy(file);
  if (isSharing) return;
  isSharing = true;
  registerHooks({
    resolve(specifier, context, next) {
      const missing = missingFace(specifier);
      if (missing !== undefined) throw new Error(missing);
      if (specifier in FACES) return ownFile(entryFile(FACES[specifier as keyof typeof FACES]));
      if (!PACKAGES.has(specifier) || !isStrategyModule(context.parentURL)) return asModule(next(specifier, context));
      const file = bundled.get(specifier);
      return file === undefined ? next(specifier, { ...context, parentURL: import.meta.url }) : ownFile(file);
    },
  });
}

/** A strategy has exports, so its TypeScript is a module, whatever the `package.json` of its folder says. */
function asModule(resolved: ResolveFnOutput): ResolveFnOutput {
  const { format, url } = resolved;
  return format === 'commonjs-typescript' && !url.includes('.cts') && isStrategyModule(url)
    ? { ...resolved, format: 'module-typescript' } : resolved;
}

function ownFile(file: string): ResolveFnOutput {
  return {
    url: pathToFileURL(file).href, format: file.endsWith('.ts') ? 'module-typescript' : 'module', shortCircuit: true,
  };
}

/** Notes the package of a strategy's file as one whose code is the strategy's. */
export function noteStrategy(file: string): void {
  const folder = packageFolder(file);
  if (folder !== undefined && !isInside(STRATEGIES_DIR, file)) strategyPackages.add(folder);
}

/** Whether a file is a strategy's: one of Gannet's own, one outside of packages, or one of a package of strategies. */
export function isStrategyFile(file: string): boolean {
  if (isInside(STRATEGIES_DIR, file)) return true;
  const folder = packageFolder(file);
  return folder === undefined ? !isOwnCode(file) : strategyPackages.has(folder);
}

/** Whether a module is a strategy's, by its URL. */
export function isStrategyModule(url: string | undefined): boolean {
  return url?.startsWith('file:') === true && isStrategyFile(fileURLToPath(url));
}

function isInside(folder: string, file: string): boolean {
  return file.startsWith(folder + sep);
}

/** Returns the folder of the installed package that a file belongs to. */
function packageFolder(file: string): string | undefined {
  const at = file.lastIndexOf(INSTALLED);
  if (at < 0) return undefined;
  const [first = '', second = ''] = file.slice(at + INSTALLED.length).split(sep);
  return file.slice(0, at + INSTALLED.length) + (first.startsWith('@') ? `${first}${sep}${second}` : first);
}
