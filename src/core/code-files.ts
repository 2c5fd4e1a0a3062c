import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

// The program runs from its source, or from the files of its build. Both are found here, and nowhere else.

/** Whether the program runs from its source. */
const IS_SOURCE = import.meta.filename.endsWith('.ts');

/** The folder of the running code: `src`, or `dist` of a build, whose files lie beside each other. */
export const CODE_DIR = IS_SOURCE ? join(import.meta.dirname, '..') : import.meta.dirname;

/** The checkout, or the installed package, with a separator at its end. */
export const PROJECT_DIR = join(CODE_DIR, '..', sep);

/** The strategies that come with Gannet. */
export const STRATEGIES_DIR = join(IS_SOURCE ? PROJECT_DIR : CODE_DIR, 'strategies');

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

/** The files that are loaded by their path, without ending: in the build by name, in the source by place. */
const ENTRIES = {
  'gannet': join('strategy', 'index'),
  'indicators': join('strategy', 'technical-indicators'),
} as const;

/** Returns the file of an entry, absolute. */
export function entryFile(name: keyof typeof ENTRIES): string {
  return IS_SOURCE ? join(CODE_DIR, `${ENTRIES[name]}.ts`) : join(CODE_DIR, `${name}.js`);
}
