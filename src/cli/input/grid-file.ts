import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { ProblemList } from '../../config/config-issue.ts';
import { configError, createProblemList, safeText, toIssues } from '../../config/config-issue.ts';
import type { ConfigNode } from '../../config/config-tree.ts';
import { mapScalars, nodeAt, plainValue } from '../../config/config-tree.ts';
import { showVariables } from '../../config/interpolate.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { toJsonSchema } from '../../config/check-value.ts';
import { schemaHints, unknownKey, validate } from '../../config/validate.ts';
import { parseYaml } from '../../config/yaml-source.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { nearest } from '../../core/text.ts';
import type { Grid, GridAxis, GridSearch } from '../../research/sweep/grid.ts';
import { combinationCount, distinct, MOST_TRIALS, rangeValues } from '../../research/sweep/grid.ts';
import type { ParamValue } from '../../research/trials/trial.ts';

const MAX_FILE_BYTES = 1_048_576;

const gridSchema = z.strictObject({
  params: z.record(z.string(), z.unknown()).meta({ description: 'parameters by "<strategy>.<parameter>"' }),
  search: z.enum(['grid', 'random']).default('grid'),
  samples: z.int().min(1).max(MOST_TRIALS).optional(),
  seed: z.int().min(0).optional(),
});

const bound = z.union([z.number(), z.string()]);
const stepsSchema = z.strictObject({ from: bound, to: bound, step: bound });

/** The configuration that a grid is checked against. */
type GridTarget = Pick<RunConfig, 'seed' | 'strategies'>;

/** Reads a grid file. Throws CONFIG_NOT_FOUND, and CONFIG_INVALID with every fault at its line and column. */
export async function readGridFile(file: string, target: GridTarget): Promise<Grid> {
  return parseGrid(await textOf(file), { file, target });
}

/** Returns the grid in a text. Throws CONFIG_INVALID with every fault at its line and column. */
export function parseGrid(
  text: string, { file, target }: { readonly file: string; readonly target: GridTarget },
): Grid {
  const parsed = parseYaml(text, { expected: '"params", see config/sma-crossover.grid.yaml' });
  const { root } = parsed;
  if (root === undefined) throw configError({ code: 'CONFIG_INVALID', issues: toIssues(file, parsed.problems) });
  const plain = mapScalars(root, (scalar) =>
    (typeof scalar.value === 'string' ? { ...scalar, value: showVariables(scalar.value) } : scalar));
  const problems = createProblemList(plain, parsed.problems.map(({ path }) => path));
  if (plain.kind !== 'map') problems.add([], 'expected keys and values such as "params: { sol-trend.fast: [10, 20] }"');
  const grid = plain.kind === 'map' ? gridIn(plain, target, problems) : undefined;
  const all = [...parsed.problems, ...problems.all];
  if (grid === undefined || all.length > 0) throw configError({ code: 'CONFIG_INVALID', issues: toIssues(file, all) });
  return grid;
}

function gridIn(root: ConfigNode, target: GridTarget, problems: ProblemList): Grid | undefined {
  const read = validate(gridSchema, { root, base: [], problems });
  const params = nodeAt(root, ['params']);
  const axes = params?.kind === 'map'
    ? [...params.members].flatMap(([key, node]) => axisIn(key, node, { root, target, problems }) ?? []) : [];
  if (read === undefined) return undefined;
  if (params?.kind === 'map' && params.members.size === 0)
    problems.add(['params'], 'expected at least one parameter such as "sol-trend.fast: [10, 20]"');
  const search = searchIn(read.value, target, problems);
  if (search === undefined || problems.all.length > 0) return undefined;
  const size = combinationCount(axes);
  if (search.kind === 'grid' && size > MOST_TRIALS) {
    problems.add(
      ['params'],
      `these are ${size.toLocaleString('en')} combinations, more than ${MOST_TRIALS.toLocaleString('en')}: use larger `
        + 'steps, or "search: random" with "samples"',
      { at: 'key' },
    );
  }
  return { axes, search };
}

function searchIn(
  { search, samples, seed }: z.output<typeof gridSchema>, target: GridTarget, problems: ProblemList,
): GridSearch | undefined {
  if (search === 'random') {
    if (samples !== undefined) return { kind: 'random', samples, seed: seed ?? target.seed };
    problems.add(
      ['search'], 'a random search needs the number of combinations: add "samples", a whole number',
    );
    return undefined;
  }
  for (const [key, value] of Object.entries({ samples, seed })) {
    if (value !== undefined) problems.add(
      [key], `only "search: random" uses "${key}": remove the key, or add "search: random"`,
      { at: 'key' },
    );
  }
  return { kind: 'grid' };
}

function axisIn(key: string, node: ConfigNode, { root, target, problems }: {
  readonly root: ConfigNode; readonly target: GridTarget; readonly problems: ProblemList;
}): GridAxis | undefined {
  const path = ['params', key];
  const place = placeOf(key, target);
  if (typeof place === 'string') problems.add(path, place, { at: 'key' });
  const values = valuesIn(node, { path, root, problems });
  return typeof place === 'string' || values === undefined ? undefined : { ...place, values: distinct(values) };
}

function placeOf(key: string, { strategies }: GridTarget): Pick<GridAxis, 'strategy' | 'param'> | string {
  const dot = key.indexOf('.');
  const [name, param] = [key.slice(0, dot), key.slice(dot + 1)];
  const names = strategies.map((strategy) => strategy.name);
  if (dot < 0 || name === '' || param === '')
    return `expected "<strategy>.<parameter>" such as "${names[0] ?? 'name'}.window", got "${safeText(key, 60)}"`;
  const strategy = strategies.find((one) => one.name === name);
  if (strategy === undefined) {
    const close = nearest(name, names);
    const hint = close === undefined
      ? `; it has ${names.join(', ')}` : ` (did you mean "${close}.${safeText(param, 60)}"?)`;
    return `the configuration has no strategy "${safeText(name, 60)}"${hint}`;
  }
  const known = schemaHints(toJsonSchema(strategy.strategy.params)).keys([]);
  if (known.length > 0 && !known.includes(param)) return `${unknownKey(param, known)}, parameters of ${name}`;
  return { strategy: name, param };
}

function valuesIn(node: ConfigNode, { path, root, problems }: {
  readonly path: readonly string[]; readonly root: ConfigNode; readonly problems: ProblemList;
}): readonly ParamValue[] | undefined {
  if (node.kind === 'list') {
    if (node.items.length === 0) problems.add(path, 'expected at least one value');
    return node.items.map(plainValue);
  }
  if (node.kind === 'scalar') {
    problems.add(path, 'expected a list of values such as [10, 20], or a range such as { from: 10, to: 50, step: 10 }');
    return undefined;
  }
  const read = validate(stepsSchema, { root, base: path, problems });
  if (read === undefined) return undefined;
  const values = rangeValues(read.value, MOST_TRIALS);
  if (typeof values !== 'string') return values;
  problems.add(path, values);
  return undefined;
}

async function textOf(file: string): Promise<string> {
  const refused = (code: 'CONFIG_INVALID' | 'CONFIG_NOT_FOUND', message: string): GannetError =>
    configError({ code, issues: [{ file, line: 1, column: 1, path: '', message }] });
  try {
    const bytes = await readFile(resolve(file));
    if (bytes.length > MAX_FILE_BYTES)
      throw refused('CONFIG_INVALID', `expected at most ${MAX_FILE_BYTES} bytes, got ${bytes.length}`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof GannetError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw refused(
      'CONFIG_NOT_FOUND', 'there is no such file: name a file with the parameters (see docs/research.md)',
    );
    if (code === 'EISDIR') throw refused('CONFIG_NOT_FOUND', 'expected a YAML file, got a folder');
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw refused('CONFIG_INVALID', 'expected text in UTF-8: save the file in that encoding');
    throw refused('CONFIG_NOT_FOUND', `the file cannot be read: ${safeText(messageOf(error))}`);
  }
}
