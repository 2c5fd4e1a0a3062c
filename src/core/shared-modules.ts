import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entryFile } from './code-files.ts';

// A strategy has its own copies of the SDK, RxJS or zod in no process: what one copy makes, another does not recognise.

/** What strategies import of Gannet, by name. */
const FACES = { 'gannet': 'gannet', 'gannet/indicators': 'indicators' } as const;
const FACE_NAMES = Object.keys(FACES);
/** The packages that strategies and Gannet share. */
const PACKAGES: ReadonlySet<string> = new Set(['rxjs', 'rxjs/operators', 'trading-signals', 'zod']);
const INSTALLED = `${sep}node_modules${sep}`;

/** The packages whose strategies are loaded, as URLs of their folders. */
const strategyPackages = new Set<string>();
let isSharing = false;

/** Whether a module's name means Gannet itself. */
export function isGannetName(specifier: string): boolean {
  return specifier === 'gannet' || specifier.startsWith('gannet/');
}

/** Returns the files of Gannet that strategies may import, absolute. */
export function sharedFiles(): string[] {
  return Object.values(FACES).map(entryFile);
}

/** Whether a strategy gets Gannet's copy of a package by this name. */
export function isSharedPackage(specifier: string): boolean {
  return PACKAGES.has(specifier);
}

/** Returns why Gannet offers nothing under a name that means it; undefined where it does. */
export function missingFace(specifier: string): string | undefined {
  return !isGannetName(specifier) || specifier in FACES ? undefined
    : `there is no "${specifier}": import from ${FACE_NAMES.map((name) => `"${name}"`).join(' or ')}`;
}

/**
 * Gives a strategy's file the running Gannet's own copies of the SDK and of the packages that both use, whatever is
 * installed beside the file. The modules of other packages keep the versions that they were installed with.
 */
export function shareModules(file: string): void {
  const folder = packageFolder(file);
  if (folder !== undefined) strategyPackages.add(pathToFileURL(folder).href);
  if (isSharing) return;
  isSharing = true;
  registerHooks({
    resolve(specifier, context, next) {
      const missing = missingFace(specifier);
      if (missing !== undefined) throw new Error(missing);
      if (specifier in FACES) {
        const url = pathToFileURL(entryFile(FACES[specifier as keyof typeof FACES])).href;
        return { url, format: url.endsWith('.ts') ? 'module-typescript' : 'module', shortCircuit: true };
      }
      if (!PACKAGES.has(specifier) || !isOfStrategy(context.parentURL)) return next(specifier, context);
      return next(specifier, { ...context, parentURL: import.meta.url });
    },
  });
}

/** Returns the folder of the installed package that a file belongs to. */
function packageFolder(file: string): string | undefined {
  const at = file.lastIndexOf(INSTALLED);
  if (at < 0) return undefined;
  const [first = '', second = ''] = file.slice(at + INSTALLED.length).split(sep);
  return file.slice(0, at + INSTALLED.length) + (first.startsWith('@') ? `${first}${sep}${second}${sep}` : first + sep);
}

/** Whether a module is a strategy's: a file outside of packages, or one of a package that holds a strategy. */
function isOfStrategy(url: string | undefined): boolean {
  if (url?.startsWith('file:') !== true) return false;
  const at = url.lastIndexOf('/node_modules/');
  return at < 0 || [...strategyPackages].some((folder) => url.startsWith(folder));
}
