import type { LoadFnOutput, ResolveFnOutput } from 'node:module';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import type { BacktestSetup, BacktestStrategy } from '../../backtest/setup.ts';
import type { StrategyFile } from '../../config/strategy-file.ts';
import { findStrategy, importFound, importStrategy } from '../../config/strategy-file.ts';
import { isStrategyModule } from '../../core/shared-modules.ts';
import { GannetError } from '../../core/errors.ts';
import type { TokenTable } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import { withTokens } from '../../strategy/params.ts';
import { whileLoading } from '../box/phases.ts';
import { withPlainRefusals } from '../box/plain-refusals.ts';

/** A JSON file that is part of a strategy's code: it lies in the strategy's folder, and the code names it. */
export interface CodeData {
  /** Absolute, without links. */
  readonly path: string;
  /** From the strategy's folder. */
  readonly name: string;
  /** The SHA-256 of its content, hex. */
  readonly hash: string;
}

/** A strategy of a configuration as plain data; the thread that runs it loads its code. */
export interface ThreadStrategy extends Pick<BacktestStrategy, 'name' | 'budget' | 'limits' | 'warmupMs'> {
  /** As in the file. */
  readonly use: string;
  /** As in the file: plain JSON. */
  readonly rawParams: unknown;
  /** The hash of its code at the start of the command, by `strategyHash`: a thread with other code runs nothing. */
  readonly codeHash?: string | undefined;
  /** The JSON files that are part of its code. */
  readonly data?: readonly CodeData[] | undefined;
}

/** The data of a thread that runs backtests; plain data. */
export interface ThreadSetup extends BacktestSetup {
  /** Absolute. */
  readonly recordingDir: string;
  readonly strategies: readonly ThreadStrategy[];
  /** The folders in which `use` is resolved. */
  readonly places: { readonly strategiesDir: string; readonly baseDir: string };
}

/**
 * Returns a strategy with its code. Throws STRATEGY_INVALID when its file is missing, and zod's error when its schema
 * refuses the parameters.
 */
export async function loadStrategy(
  own: ThreadStrategy, tokens: TokenTable, places: ThreadSetup['places'],
): Promise<BacktestStrategy> {
  const { use: _, rawParams, ...bounds } = own;
  const strategy = await strategyCode(own, places);
  return whileLoading([own], () =>
    ({ ...bounds, strategy, params: withTokens(tokens, () => strategy.params.parse(rawParams)) }));
}

/** Returns the code of a strategy. Throws STRATEGY_INVALID when its file is missing. */
export async function strategyCode(
  own: Pick<ThreadStrategy, 'name' | 'use'>, places: ThreadSetup['places'],
): Promise<Strategy> {
  const imported = await whileLoading([own], () => importStrategy(own.use, places));
  if (typeof imported === 'string') throw new GannetError('STRATEGY_INVALID', imported);
  return withPlainRefusals(imported.strategy);
}

const GENERATION = /\?generation=\d+$/;

/** The modules of strategies at their first load: a later change of a file affects no run. */
const sources = new Map<string, LoadFnOutput>();
/** Where strategies and what they import were found at their first load. */
const files = new Map<string, StrategyFile>();
const resolutions = new Map<string, ResolveFnOutput & { readonly shortCircuit: true }>();
let generations = 0;

/**
 * Imports strategies in new modules, so that state in a module never reaches another run. Strategies of one call share
 * their modules, as in a live run. Modules of the project and of packages are shared by all. Throws STRATEGY_INVALID
 * when a file is missing.
 */
export async function freshStrategies(
  all: readonly Pick<ThreadStrategy, 'name' | 'use'>[], places: ThreadSetup['places'],
): Promise<Strategy[]> {
  if (generations === 0) renewModules();
  generations += 1;
  const strategies: Strategy[] = [];
  for (const own of all) {
    const query = `?generation=${generations}`;
    const imported = await whileLoading([own], async () => {
      const found = await foundOnce(own.use, places);
      return typeof found === 'string' ? found : importFound(found, own.use, query);
    });
    if (typeof imported === 'string') throw new GannetError('STRATEGY_INVALID', imported);
    strategies.push(withPlainRefusals(imported.strategy));
  }
  return strategies;
}

/**
 * Returns newly imported strategies with their parameters. Throws STRATEGY_INVALID when a file is missing, and zod's
 * error when a schema refuses the parameters.
 */
export async function freshInstances(
  { strategies, tokens, places }: Pick<ThreadSetup, 'strategies' | 'tokens' | 'places'>,
): Promise<BacktestStrategy[]> {
  const table = tokenTable(tokens);
  const fresh = await freshStrategies(strategies, places);
  return whileLoading(strategies, () => strategies.map(({ name, rawParams, budget, limits, warmupMs }, i) => {
    const strategy = fresh[i]!;
    return {
      name, budget, limits, warmupMs, strategy, params: withTokens(table, () => strategy.params.parse(rawParams)),
    };
  }));
}

/** Returns the file of a strategy, which is found at its first load. */
async function foundOnce(use: string, places: ThreadSetup['places']): Promise<StrategyFile | string> {
  const key = JSON.stringify([use, places.strategiesDir, places.baseDir]);
  const found = files.get(key) ?? await findStrategy(use, places);
  if (typeof found !== 'string') files.set(key, found);
  return found;
}

/** What a module of a generation imports from beside it is of the same generation. */
function renewModules(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context;
      const [generation] = GENERATION.exec(parentURL) ?? [];
      if (generation === undefined) return next(specifier, context);
      const key = JSON.stringify([specifier, parentURL.replace(GENERATION, ''), context.importAttributes]);
      const resolved = resolutions.get(key) ?? { ...next(specifier, context), shortCircuit: true };
      resolutions.set(key, resolved);
      const { url } = resolved;
      return url.includes('?') || !isStrategyModule(url) ? resolved : { ...resolved, url: `${url}${generation}` };
    },
    load(url, context, next) {
      if (!GENERATION.test(url)) return next(url, context);
      const file = url.replace(GENERATION, '');
      const known = sources.get(file);
      if (known !== undefined) return known;
      const loaded = { ...withoutTypes(next(url, context)), shortCircuit: true };
      if (loaded.source !== undefined && loaded.source !== null) sources.set(file, loaded);
      return loaded;
    },
  });
}

/** Returns a module with its types blanked out, which Node would do at each of its imports. */
function withoutTypes(loaded: LoadFnOutput): LoadFnOutput {
  const { format, source } = loaded;
  if (format !== 'module-typescript' || source === undefined || source === null) return loaded;
  const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();
  return { ...loaded, format: 'module', source: stripTypeScriptTypes(text) };
}
