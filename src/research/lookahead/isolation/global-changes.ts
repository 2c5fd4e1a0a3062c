import * as rxjs from 'rxjs';
import { Engine } from '../../../engine/engine.ts';
import { HotSource } from '../../../engine/hot-source.ts';
import { VirtualClock } from '../../../engine/virtual-clock.ts';
import { RecordedQuote } from '../../../recording/columns/quote-block.ts';
import { RecordingCursor } from '../../../recording/cursor.ts';
import * as sdk from '../../../strategy/index.ts';

/** Objects of the project and of rxjs that a strategy can access, and could change for all strategies. */
const SHARED: Readonly<Record<string, unknown>> =
  { ...rxjs, ...sdk, Engine, HotSource, VirtualClock, RecordedQuote, RecordingCursor };
/** Members that Node creates at their first use. */
const LAZY = new Set<PropertyKey>(['localStorage', 'sessionStorage']);

type Members = ReadonlyMap<PropertyKey, PropertyDescriptor>;

/**
 * Returns a function that lists the changes of shared state since now: globals, built-in objects, their prototypes,
 * the project's own objects, and the environment.
 */
export function watchGlobals(): () => string[] {
  const names = new Map<object, string>([[globalThis, 'globalThis']]);
  const add = (name: string, value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || names.has(value)) return;
    names.set(value, name);
    if (typeof value === 'function') add(`${name}.prototype`, (value as { prototype?: unknown }).prototype);
  };
  for (const [key, { value }] of membersOf(globalThis)) {
    if (value !== globalThis && value !== process) add(String(key), value);
  }
  for (const [name, value] of Object.entries(SHARED)) add(name, value);
  for (const [name, value] of Object.entries({
    Generator: function* () { /* empty */ }, TypedArray: Object.getPrototypeOf(Uint8Array) as object,
    ArrayIterator: [].values(),
  })) {
    add(`${name} prototype`, name === 'TypedArray' ? value : Object.getPrototypeOf(value));
  }
  add('TypedArray.prototype', (Object.getPrototypeOf(Uint8Array) as { prototype: object }).prototype);
  const before = new Map([...names.keys()].map((object) => [object, membersOf(object)]));
  const environment = { ...process.env };
  const processKeys = new Set(Reflect.ownKeys(process));

  return () => {
    const changes: string[] = [];
    for (const [object, members] of before) {
      changes.push(...changesOf(members, membersOf(object)).map((key) => `${names.get(object)!}.${key}`));
    }
    // Node's own counters begin with an underscore.
    for (const key of Reflect.ownKeys(process)) {
      if (!processKeys.has(key) && !String(key).startsWith('_')) changes.push(`process.${String(key)}`);
    }
    for (const name of new Set([...Object.keys(environment), ...Object.keys(process.env)])) {
      if (environment[name] !== process.env[name]) changes.push(`process.env.${name}`);
    }
    return changes;
  };
}

function membersOf(object: object): Members {
  return new Map(Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)!]));
}

function changesOf(before: Members, after: Members): string[] {
  const changed: string[] = [];
  for (const [key, now] of after) {
    if (LAZY.has(key)) continue;
    const then = before.get(key);
    // Node replaces some accessors by their value at their first use.
    const isLazy = then?.get !== undefined && now.get === undefined;
    if (then === undefined || (!isLazy && !isSameMember(then, now))) changed.push(String(key));
  }
  for (const key of before.keys()) if (!after.has(key)) changed.push(String(key));
  return changed;
}

function isSameMember(a: PropertyDescriptor, b: PropertyDescriptor): boolean {
  return Object.is(a.value, b.value) && a.get === b.get && a.set === b.set;
}
