import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

// The program runs from its source, or from the files of its build. Both are found here, and nowhere else.

/** The version of the program, as package.json has it. */
export const VERSION = '0.2.0';

/** Whether the program runs from its source. */
export const IS_SOURCE = import.meta.filename.endsWith('.ts');

/** The folder of the running code: `src`, or `dist` of a build, whose files lie beside each other. */
export const CODE_DIR = IS_SOURCE ? join(import.meta.dirname, '..') : import.meta.dirname;

/** The checkout, or the installed package, with a separator at its end. */
export const PROJECT_DIR = join(CODE_DIR, '..', sep);

/** The strategies that come with Gannet. */
export const STRATEGIES_DIR = join(IS_SOURCE ? PROJECT_DIR : CODE_DIR, 'strategies');

/** The words of the services that come with Gannet. */
export const DIALECTS_DIR = join(PROJECT_DIR, 'config', 'dialects', sep);

const CODE = CODE_DIR + sep;
const STRATEGIES = STRATEGIES_DIR + sep;
const CODE_URL = pathToFileURL(CODE).href;
const STRATEGIES_URL = pathToFileURL(STRATEGIES).href;

/** Returns whether a file is code of Gannet itself, and not of a strategy. */
export function isOwnCode(file: string): boolean {
  return file.startsWith(CODE) && !file.startsWith(STRATEGIES);
}

/** Returns whether a module is code of Gannet itself, by its URL. */
export function isOwnModule(url: string): boolean {
  return url.startsWith(CODE_URL) && !url.startsWith(STRATEGIES_URL);
}

/** The files that are loaded by their path: their name in the build, and their place in the source. */
export const ENTRIES = {
  // What bin/gannet starts, and what that starts.
  'signer': 'signer/main.ts',
  'command': 'cli/main.ts',
  'boxed-command': 'cli/boxed/main.ts',
  'trial-worker': 'research/trials/trial-worker.ts',
  'lookahead-worker': 'research/lookahead/isolation/lookahead-worker.ts',
  'strategy-host': 'daemon/hosts/host-main.ts',
  'sandbox': 'sandbox/main.ts',
  'packing-thread': 'recording/compression/packing-thread.ts',
  'bench-probe': 'bench/probe.ts',
  // What strategies import.
  'gannet': 'strategy/index.ts',
  'indicators': 'strategy/technical-indicators.ts',
  'testing': 'testing/index.ts',
} as const;

/** Packages that a build includes and strategies import, each with its file there. */
export const BUNDLED_PACKAGES = { 'rxjs': 'rxjs.js', 'rxjs/operators': 'rxjs-operators.js', 'zod': 'zod.js' } as const;

/** Files that a page or a chain reads as a whole. */
export const ASSETS = {
  'report-page': 'report/page-script.ts',
  'dashboard-page': 'dashboard/browser/main.ts',
  'chart-library.js': '../node_modules/lightweight-charts/dist/lightweight-charts.standalone.production.js',
  'swap.so': 'sandbox/program/swap.so',
} as const;

/** Returns the file of an entry, absolute. */
export function entryFile(name: keyof typeof ENTRIES): string {
  return join(CODE_DIR, IS_SOURCE ? ENTRIES[name] : `${name}.js`);
}

/** Returns the file of an asset, absolute. */
export function assetFile(name: keyof typeof ASSETS): string {
  return join(CODE_DIR, IS_SOURCE ? ASSETS[name] : ASSETS[name].endsWith('.ts') ? `${name}.js` : name);
}

/** Returns the folders with the code of some layers, each with a separator at its end; of a build, that of all code. */
export function layerFolders(layers: readonly string[]): string[] {
  return IS_SOURCE ? layers.map((layer) => join(CODE_DIR, layer, sep)) : [CODE];
}

/** Packages that a process in a box loads, and that no build includes. */
const BOXED_PACKAGES = ['apache-arrow', 'trading-signals'];

/** Returns what code of Gannet in a box reads of packages: folders with a separator at their end, and patterns. */
export function boxedPackages(): string[] {
  return IS_SOURCE ? installedFolders()
    : BOXED_PACKAGES.flatMap((name) => [...packagePlaces(name), ...packageFolders(name)]);
}

/** Returns the folder of installed packages, and where it really is: Node loads a package from there. */
function installedFolders(): string[] {
  const folder = join(PROJECT_DIR, 'node_modules', sep);
  return existsSync(folder) ? [folder, join(realpathSync(folder), sep)] : [folder];
}

/** Returns the places where Node seeks a package of Gannet: the folder where it is, and patterns of those before. */
function packagePlaces(name: string): string[] {
  const places: string[] = [];
  for (let at = join(PROJECT_DIR, '.'); ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name, sep);
    if (isReadable(folder)) return [...places, folder];
    places.push(`${folder}*`);
    if (dirname(at) === at) return places;
  }
}

/**
 * Returns the folder of a package that Gannet uses, with a separator at its end, and where it really is: package
 * managers link folders. Empty where it is not installed.
 */
export function packageFolders(name: string): string[] {
  const folder = packagePlaces(name).find((place) => place.endsWith(sep));
  return folder === undefined ? [] : [folder, join(realpathSync(folder), sep)];
}

function isReadable(folder: string): boolean {
  try {
    return existsSync(folder);
  } catch {
    // A box may read only the folders that the process which started it has found.
    return false;
  }
}
