import { isGannetError, messageOf } from '../core/errors.ts';
import { parseDuration } from '../core/time.ts';
import type { TokenTable } from '../market/token.ts';
import type { Strategy } from '../strategy/define.ts';
import { withTokens } from '../strategy/params.ts';
import type { ProblemList } from './config-issue.ts';
import { formatPath, safeText } from './config-issue.ts';
import type { StrategyEntry } from './config-schema.ts';
import type { ConfigNode, ConfigPath } from './config-tree.ts';
import { nodeAt, plainValue } from './config-tree.ts';
import type { AmountReader } from './resolve-tokens.ts';
import type { StrategyConfig } from './run-config.ts';
import { watchedBy } from './run-config.ts';
import { importStrategy, recordedUseOf } from './strategy-file.ts';
import { validate } from './validate.ts';

interface StrategyScope {
  readonly root: ConfigNode;
  readonly tokens: TokenTable;
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
  readonly places: { readonly strategiesDir: string; readonly baseDir: string };
}

/**
 * Returns the instances at their places in the file, undefined where one could not be resolved; an entry that is
 * undefined is faulty already.
 */
export async function resolveStrategies(
  entries: readonly (StrategyEntry | undefined)[], scope: StrategyScope,
): Promise<(StrategyConfig | undefined)[]> {
  const resolved: (StrategyConfig | undefined)[] = entries.map(() => undefined);
  const names = new Map<string, ConfigPath>();
  for (const [index, entry] of entries.entries()) {
    if (entry === undefined) continue;
    const path = ['strategies', index];
    const instance = await resolveEntry(entry, path, scope);
    const name = entry.name ?? instance?.name;
    const earlier = name === undefined ? undefined : names.get(name);
    if (name !== undefined && earlier !== undefined) {
      const where = entry.name === undefined ? path : [...path, 'name'];
      scope.problems.add(
        where, `the name "${name}" is taken by ${formatPath(earlier)}: give each instance a "name" of its own`,
      );
    } else if (name !== undefined) names.set(name, path);
    resolved[index] = instance;
  }
  return resolved;
}

async function resolveEntry(
  entry: StrategyEntry, path: ConfigPath, scope: StrategyScope,
): Promise<StrategyConfig | undefined> {
  const { amounts, problems } = scope;
  const budget = amounts.withToken([...path, 'budget'], entry.budget);
  if (budget?.amount === 0n) problems.add([...path, 'budget'], 'expected a budget above zero');
  const maxExposure = amounts.limit([...path, 'max_exposure'], entry.max_exposure);
  if (maxExposure !== undefined && entry.budget === undefined) {
    problems.add(
      [...path, 'max_exposure'],
      'without a budget it holds nothing that could be worth too much: add a "budget", or remove the key',
      { at: 'key' },
    );
  }
  const imported = await importStrategy(entry.use, scope.places);
  if (typeof imported === 'string') {
    problems.add([...path, 'use'], imported);
    return undefined;
  }
  const { strategy, origin, file } = imported;
  const params = readParams(strategy, [...path, 'params'], scope);
  if (params === undefined) return undefined;
  if (entry.max_age !== undefined && watchedBy({ strategy, params: params.value }).length === 0) {
    problems.add(
      [...path, 'max_age'],
      `${strategy.name} watches nothing with these parameters, so nothing of it can be too old: remove the key`,
      { at: 'key' },
    );
  }
  const node = nodeAt(scope.root, [...path, 'params']);
  return {
    name: entry.name ?? strategy.name,
    use: entry.use,
    origin,
    recordedUse: origin === 'project' ? recordedUseOf(scope.places.strategiesDir, file) : undefined,
    strategy,
    params: params.value,
    rawParams: node === undefined ? {} : plainValue(node),
    budget,
    maxAgeMs: entry.max_age === undefined ? undefined : parseDuration(entry.max_age),
    maxExposure,
    warmupMs: entry.warmup === undefined ? undefined : parseDuration(entry.warmup),
  };
}

/** Returns the parameters as the strategy's own schema reads them, and tries them on its inputs. */
function readParams(
  strategy: Strategy, path: ConfigPath, { root, tokens, problems }: StrategyScope,
): { value: unknown } | undefined {
  const node = nodeAt(root, path);
  if (node !== undefined && node.kind !== 'map') return undefined;
  try {
    const read = withTokens(tokens, () => validate(strategy.params, { root, base: path, problems }));
    if (read !== undefined) watchedBy({ strategy, params: read.value });
    return read;
  } catch (error) {
    // A schema and `inputs` are the author's code: what they throw is a fault of the strategy with these parameters.
    const code = isGannetError(error) ? '' : `strategy ${strategy.name} failed on these parameters: `;
    problems.add(path, code + safeText(messageOf(error)));
    return undefined;
  }
}
