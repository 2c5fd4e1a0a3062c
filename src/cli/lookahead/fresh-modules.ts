import { readFileSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PROJECT_DIR } from '../project.ts';

/** Loads the modules of strategies anew for every generation; ours and those of packages, which keep nothing of a run, once. */
export interface FreshModules {
  generation: number;
  /** Whether modules that are data, and no code, are not there. */
  withoutData: boolean;
  /** Returns what strategies took of the project beside the authors' SDK, and which data they import, since this was last asked. */
  takeReaches(): string[];
}

/** What a strategy's module is known by, in addresses and in stacks. */
export const GENERATION = /[?&]generation=\d+/;

const OURS = pathToFileURL(join(PROJECT_DIR, 'src/')).href;
const SDK = `${OURS}strategy/index.ts`;
/** Beyond so many digits, and where they are so much of the text, somebody wrote down numbers and no program. */
const DATA_DIGITS = 400;
const DATA_SHARE = 0.4;

/** Begins to load modules by generation in this thread. */
export function loadModulesFresh(): FreshModules {
  const reaches = new Set<string>();
  const known = new Map<string, boolean>();
  const modules: FreshModules = {
    generation: 0,
    withoutData: false,
    takeReaches: () => {
      const taken = [...reaches];
      reaches.clear();
      return taken;
    },
  };
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      const isStrategys = context.parentURL !== undefined && GENERATION.test(context.parentURL);
      if (url.startsWith(OURS)) {
        if (isStrategys && url !== SDK) reaches.add(url.slice(OURS.length));
        return resolved;
      }
      if (!url.startsWith('file:') || url.includes('/node_modules/')) return resolved;
      if (isStrategys && isData(url, known)) {
        const name = basename(fileURLToPath(url));
        reaches.add(`data in ${name}`);
        if (modules.withoutData) throw new Error(`there is no ${name} here`);
      }
      return { ...resolved, url: `${url}${url.includes('?') ? '&' : '?'}generation=${modules.generation}` };
    },
  });
  return modules;
}

/** A module may have been written anew since it was last looked at. */
function isData(url: string, known: Map<string, boolean>): boolean {
  const path = fileURLToPath(url);
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
