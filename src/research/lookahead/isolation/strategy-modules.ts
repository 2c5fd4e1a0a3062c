import { readFileSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sharedFiles } from '../../../core/shared-modules.ts';
import { CODE_DIR, isOwnModule } from '../../../core/code-files.ts';

/** Loads the modules of strategies once per generation. The modules of the project and of packages load once. */
interface StrategyModules {
  generation: number;
  /** The JSON files that are part of the code of the pass's strategies, without links. */
  codeData: ReadonlySet<string>;
  /** Whether importing a module that is data instead of code fails. */
  withoutData: boolean;
  /** Returns the imports of data, and of project files outside the authors' SDK, since the last call. */
  takeAccesses(): string[];
}

/** The part of a URL that identifies a strategy's module, also in stack traces. */
export const GENERATION = /[?&]generation=\d+/;

const SDK: ReadonlySet<string> = new Set(sharedFiles().map((file) => pathToFileURL(file).href));
/** A module with so many digits, and such a share of digits, is data and no program. */
const DATA_DIGITS = 400;
const DATA_SHARE = 0.4;

/** Begins to load modules by generation in this thread. */
export function isolateStrategyModules(): StrategyModules {
  const accesses = new Set<string>();
  const known = new Map<string, boolean>();
  const modules: StrategyModules = {
    generation: 0,
    codeData: new Set(),
    withoutData: false,
    takeAccesses: () => {
      const taken = [...accesses];
      accesses.clear();
      return taken;
    },
  };
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      const isByStrategy = context.parentURL !== undefined && GENERATION.test(context.parentURL);
      if (isOwnModule(url)) {
        if (isByStrategy && !SDK.has(url)) accesses.add(relative(CODE_DIR, fileURLToPath(url)));
        return resolved;
      }
      if (!url.startsWith('file:') || url.includes('/node_modules/')) return resolved;
      const path = fileURLToPath(url);
      if (isByStrategy && (path.endsWith('.json') ? !modules.codeData.has(path) : isData(path, known))) {
        const name = basename(path);
        accesses.add(`data in ${name}`);
        if (modules.withoutData) throw new Error(`${name} is not available here`);
      }
      return { ...resolved, url: `${url}${url.includes('?') ? '&' : '?'}generation=${modules.generation}` };
    },
  });
  return modules;
}

/** Keyed by size and time, because a strategy may write a module between two imports. */
function isData(path: string, known: Map<string, boolean>): boolean {
  const { size, mtimeMs } = statSync(path);
  const key = `${path} ${size} ${mtimeMs}`;
  const found = known.get(key) ?? (size > DATA_DIGITS && isMostlyNumbers(readFileSync(path, 'utf8')));
  known.set(key, found);
  return found;
}

function isMostlyNumbers(text: string): boolean {
  const digits = text.match(/\d/g)?.length ?? 0;
  return digits >= DATA_DIGITS && digits >= DATA_SHARE * (text.match(/\S/g)?.length ?? 0);
}
