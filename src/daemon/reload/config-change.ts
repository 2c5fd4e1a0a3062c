import type { PlainValue } from '../../config/config-tree.ts';
import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import { canonicalJson } from '../../core/json.ts';

/** A parameter that differs between two versions of a configuration; null where it is left out. */
export interface ParamChange {
  /** "window", or "levels.0.size" within lists and mappings. */
  readonly name: string;
  readonly before: PlainValue;
  readonly after: PlainValue;
}

/** What a reload replaces; everything else of a strategy stays as it was when the daemon started. */
const REPLACED: readonly (keyof StrategyConfig)[] = ['strategy', 'params', 'apart', 'rawParams'];

/** Strategies are compared one by one; the section of backtests, which follows from their budgets, is not the run's. */
const APART: readonly (keyof RunConfig)[] = ['strategies', 'file', 'backtest'];

/** The keys of a strategy as the file has them. */
const KEYS: Partial<Record<keyof StrategyConfig, string>> = {
  maxAgeMs: 'max_age', maxExposure: 'max_exposure', warmupMs: 'warmup', onStop: 'on_stop', file: 'use',
  recordedUse: 'use', origin: 'use',
};

/**
 * Returns which parts of a configuration beside its strategies differ and cannot change while a run goes on, as the
 * file names them; of strategies, whether they are the same ones.
 */
export function fixedChanges(before: RunConfig, after: RunConfig): string[] {
  if (namesOf(before) !== namesOf(after))
    return [`strategies (they are ${namesOf(after)}, and the run has ${namesOf(before)})`];
  return keysOf(before, after).filter((key) => !APART.includes(key))
    .filter((key) => differ(before[key], after[key]));
}

/** Returns the same for one strategy. */
export function fixedOfStrategy(was: StrategyConfig, is: StrategyConfig): string[] {
  const keys = keysOf(was, is).filter((key) => !REPLACED.includes(key) && differ(was[key], is[key]))
    .map((key) => `${KEYS[key] ?? key} of strategy ${was.name}`);
  const renamed = was.strategy.name === is.strategy.name ? []
    : [`the name of the strategy in ${was.use} (it was "${was.strategy.name}", and is "${is.strategy.name}")`];
  return [...new Set([...keys, ...renamed])];
}

/** Returns why such differences are refused. */
export function cannotChange(fixed: readonly string[]): string {
  return `${fixed.join(', ')} cannot change while the daemon runs, only the code and the "params" of strategies can: `
    + 'undo the change, or stop the daemon and start it again';
}

/** Returns a configuration with the strategies that were left out of its reading as they were. */
export function withUnread(before: RunConfig, after: RunConfig, leftOut: ReadonlySet<number>): RunConfig {
  const read = [...after.strategies];
  const strategies = before.strategies.flatMap((was, index) => (leftOut.has(index) ? [was] : read.splice(0, 1)));
  return { ...after, strategies: [...strategies, ...read] };
}

/** Returns the parameters that differ, in the order of the file. */
export function paramChanges(before: PlainValue, after: PlainValue, path: readonly string[] = []): ParamChange[] {
  if (!differ(before, after)) return [];
  if (isMapping(before) && isMapping(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      paramChanges(before[key] ?? null, after[key] ?? null, [...path, key]));
  }
  return [{ name: path.join('.'), before, after }];
}

function namesOf({ strategies }: RunConfig): string {
  return strategies.map(({ name }) => name).join(', ');
}

function isMapping(value: PlainValue): value is { [key: string]: PlainValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function keysOf<T extends object>(a: T, b: T): (keyof T)[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof T)[];
}

function differ(a: unknown, b: unknown): boolean {
  return canonicalJson(plain(a) ?? null) !== canonicalJson(plain(b) ?? null);
}

/** Returns a value as JSON holds it: of maps and sets the members, of functions nothing. */
function plain(value: unknown): unknown {
  if (typeof value === 'function') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map || value instanceof Set || Array.isArray(value))
    return [...value].map((one) => plain(one) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)] as const)
    .filter(([, member]) => member !== undefined));
}
