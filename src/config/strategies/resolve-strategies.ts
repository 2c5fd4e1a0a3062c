import { basename } from 'node:path';
import { z } from 'zod';
import { AssertionError } from '../../core/assert.ts';
import { parseDuration } from '../../core/time.ts';
import type { TokenTable } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import type { ProblemList } from '../config-issue.ts';
import { formatPath, safeText } from '../config-issue.ts';
import type { StrategyEntry } from '../config-schema.ts';
import type { ConfigNode, ConfigPath, PlainValue } from '../config-tree.ts';
import { nodeAt, plainValue } from '../config-tree.ts';
import type { AmountReader } from '../resolve-tokens.ts';
import type { IsolationConfig, OnStrategyStop, StrategyConfig } from '../run-config.ts';
import { watchedBy } from '../run-config.ts';
import type { StrategyAnswer } from './ask-strategy.ts';
import { strategyViolations } from './code-rules.ts';
import { resolveExits } from './exit-config.ts';
import { readAnswer } from './read-answer.ts';
import { readHere } from './read-here.ts';
import type { LoadingStrategy, StrategyReader, StrategyReading } from './strategy-reader.ts';
import type { StrategyFile, StrategyPlaces } from '../strategy-file.ts';
import { findStrategy, loadFault, recordedUseOf } from '../strategy-file.ts';
import { reportFindings } from '../validate.ts';

interface StrategyScope {
  readonly root: ConfigNode;
  readonly tokens: TokenTable;
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
  readonly strategiesDir: string;
  readonly seed: number;
  /** What becomes of positions where an entry does not say it. */
  readonly onStop: OnStrategyStop;
}

/** The file of an entry, whose code is being loaded where that is wanted; or what is wrong with it. */
type LoadingEntry = (StrategyFile & { readonly loading: LoadingStrategy | undefined }) | string;

const NOT_OURS = 'with "isolation: off", strategies run in the process that trades, so only the project’s own are '
  + 'loaded: put the file into strategies/, or remove "isolation"';

/**
 * Begins to load the code of strategies, all at once: it takes a while, in which the rest of the configuration is
 * resolved.
 */
export function loadStrategies(
  entries: readonly (StrategyEntry | undefined)[], { places, isolation, purpose, reader }: {
    readonly places: StrategyPlaces; readonly isolation: IsolationConfig; readonly purpose: 'run' | 'check' | 'read';
    readonly reader: StrategyReader | undefined;
  },
): Promise<LoadingEntry>[] {
  return entries.map(async (entry) => {
    if (entry === undefined) return '';
    const { use } = entry;
    const found = await findStrategy(use, places);
    if (typeof found === 'string') return found;
    const isOff = isolation.kind === 'off' && purpose !== 'read';
    if (isOff && found.origin !== 'project') return NOT_OURS;
    // Only a run carries out what it loads; all others only ask.
    const chosen = reader !== undefined && isOff && purpose === 'run' ? readHere : reader;
    return { ...found, loading: chosen?.load({ ...found, use, isolation }) };
  });
}

/**
 * Returns the instances at their places in the file, undefined where one could not be resolved; an entry that is
 * undefined is faulty already.
 */
export async function resolveStrategies(
  entries: readonly (StrategyEntry | undefined)[], loading: readonly Promise<LoadingEntry>[], scope: StrategyScope,
): Promise<(StrategyConfig | undefined)[]> {
  const resolved: (StrategyConfig | undefined)[] = entries.map(() => undefined);
  const asked = entries.map(async (entry, index) =>
    (entry === undefined ? ''
      : await askEntry(entry, await loading[index]!, { ...scope, path: ['strategies', index] })));
  const names = new Map<string, ConfigPath>();
  for (const [index, entry] of entries.entries()) {
    if (entry === undefined) continue;
    const path = ['strategies', index];
    const instance = resolveEntry(entry, await asked[index]!, { ...scope, path });
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

/** Reports what the code of strategies must not do, at the place that names the strategy. */
export async function checkCode(loading: readonly Promise<LoadingEntry>[], problems: ProblemList): Promise<void> {
  for (const [index, entry] of loading.entries()) {
    const found = await entry;
    if (typeof found === 'string') continue;
    for (const { file, line, column, message } of await strategyViolations(found.file))
      problems.add(['strategies', index, 'use'], `${safeText(basename(file))}:${line}:${column}: ${message}`);
  }
}

interface EntryScope extends StrategyScope {
  readonly path: ConfigPath;
}

/** The file of an entry with what its code said, where it was asked; or what is wrong with the file. */
type AskedEntry = (StrategyFile & { readonly said: Awaited<ReturnType<LoadingStrategy['read']>> | undefined }) | string;

/** Asks the code of an entry what it watches. All are asked at once, because each may take its time. */
async function askEntry(
  { name }: StrategyEntry, loading: LoadingEntry, scope: EntryScope,
): Promise<AskedEntry> {
  if (typeof loading === 'string') return loading;
  const { file, origin, loading: code } = loading;
  const { tokens, seed } = scope;
  return { file, origin, said: await code?.read({ params: paramsOf(scope), tokens: tokens.all, name, seed }) };
}

function resolveEntry(entry: StrategyEntry, asked: AskedEntry, scope: EntryScope): StrategyConfig | undefined {
  const { amounts, problems, path } = scope;
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
  if (typeof asked === 'string') {
    problems.add([...path, 'use'], asked);
    return undefined;
  }
  const { origin, file, said } = asked;
  const read = said === undefined ? unasked(entry) : readStrategy(entry, said, scope);
  if (read === undefined) return undefined;
  const { code, apart } = read;
  if (said !== undefined && entry.max_age !== undefined && watchedBy(code).length === 0) {
    problems.add(
      [...path, 'max_age'],
      `${code.strategy.name} watches nothing with these parameters, so nothing of it can be too old: remove the key`,
      { at: 'key' },
    );
  }
  const watched = said === undefined ? undefined : watchedBy(code).map(({ spec }) => spec);
  const exits = resolveExits(entry.exits, { path, tokens: scope.tokens, amounts, problems, budget, watched });
  return {
    name: entry.name ?? code.strategy.name,
    use: entry.use,
    origin,
    file,
    recordedUse: origin === 'project' ? recordedUseOf(scope.strategiesDir, file) : file,
    ...code,
    apart,
    rawParams: paramsOf(scope) ?? {},
    budget,
    maxAgeMs: entry.max_age === undefined ? undefined : parseDuration(entry.max_age),
    maxExposure,
    exits,
    warmupMs: entry.warmup === undefined ? undefined : parseDuration(entry.warmup),
    onStop: entry.on_stop ?? scope.onStop,
  };
}

/** A strategy with what it watches: its code, or a declaration where its code runs apart. */
interface ReadStrategy extends Pick<StrategyReading, 'apart'> {
  readonly code: Pick<StrategyConfig, 'strategy' | 'params'>;
}

/** Returns what stands for a strategy whose code a command does not need. */
function unasked({ name, use }: StrategyEntry): ReadStrategy {
  return { code: { strategy: declared({ name: name ?? use, summary: '', inputs: [] }), params: undefined } };
}

/** Reads what a strategy's code said about the entry's parameters; adds what is wrong to the problems. */
function readStrategy(
  { use }: StrategyEntry, said: Exclude<Exclude<AskedEntry, string>['said'], undefined>, scope: EntryScope,
): ReadStrategy | undefined {
  const { problems, path } = scope;
  if ('ended' in said) {
    problems.add([...path, 'use'], `strategy "${safeText(use, 60)}" cannot be read: ${safeText(said.ended)}`);
    return undefined;
  }
  const { here, apart } = said;
  const answer = readAnswer(said.answer);
  switch (answer.kind) {
    case 'not-loaded': case 'no-strategy': problems.add([...path, 'use'], loadFault(use, answer)); return undefined;
    case 'refused-answer':
      problems.add([...path, 'use'], `strategy "${safeText(use, 60)}" cannot be used: ${answer.why}`);
      return undefined;
    case 'refused': reportFindings(answer, { ...scope, base: [...path, 'params'] }); return undefined;
    case 'failed': {
      const cause = answer.isTold ? '' : `strategy ${answer.name} failed on these parameters: `;
      problems.add([...path, 'params'], cause + safeText(answer.message));
      return undefined;
    }
    case 'loaded': return undefined;
    case 'read': return { code: here ?? { strategy: declared(answer), params: undefined }, apart };
  }
}

/** Returns the parameters as they stand in the file; undefined where they are no mapping. */
function paramsOf({ root, path }: EntryScope): PlainValue | undefined {
  const node = nodeAt(root, [...path, 'params']);
  if (node === undefined) return {};
  return node.kind === 'map' ? plainValue(node) : undefined;
}

/** Returns a strategy that says what another process says it is, and cannot be run here. */
function declared(
  { name, summary, inputs }: Omit<Extract<StrategyAnswer, { kind: 'read' }>, 'kind'>,
): Strategy {
  const declaration = Object.fromEntries(inputs.map(({ name: input, spec, further }) =>
    [input, { spec, further, adapt: same }]));
  return {
    name, summary, params: z.unknown(), inputs: () => declaration,
    run: () => { throw new AssertionError(`the code of strategy ${name} runs in a process of its own`); },
  };
}

function same<T>(event: T): T {
  return event;
}
