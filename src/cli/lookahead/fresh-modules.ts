import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { PROJECT_DIR } from '../project.ts';

/** Loads the modules of strategies anew for every generation; ours and those of packages, which keep nothing of a run, once. */
export interface FreshModules {
  generation: number;
  /** Returns what strategies took of the project beside the authors' SDK, since this was last asked. */
  takeReaches(): string[];
}

const OURS = pathToFileURL(join(PROJECT_DIR, 'src/')).href;
const SDK = `${OURS}strategy/index.ts`;
const GENERATION = /[?&]generation=\d+/;

/** Begins to load modules by generation in this thread. */
export function loadModulesFresh(): FreshModules {
  const reaches = new Set<string>();
  const modules: FreshModules = {
    generation: 0,
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
      return { ...resolved, url: `${url}${url.includes('?') ? '&' : '?'}generation=${modules.generation}` };
    },
  });
  return modules;
}
