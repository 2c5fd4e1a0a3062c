import type { Observable, OperatorFunction } from 'rxjs';
import { map } from 'rxjs';
import { z } from 'zod';
import { GannetError, messageOf } from '../core/errors.ts';

/** The most that one strategy may keep, in characters of JSON. */
const STATE_MAX_CHARACTERS = 65_536;

/** An event with the state after it. */
export interface Folded<S, E> {
  readonly state: S;
  readonly event: E;
}

/** Folds each event of its source into the state and emits both. */
export interface Stateful<S, E> extends OperatorFunction<E, Folded<S, E>> {
  /** The present state, frozen. */
  readonly value: S;
}

/** How a kept state is restored. */
export interface StatefulOptions<S> {
  /**
   * The schema of the state. It also parses the state of an earlier version, so a union with a transform can convert an
   * older shape. Each new state must fit it, so that every kept state can be restored. Without a schema, a kept state
   * must have the type and the members of the initial one.
   */
  readonly schema?: z.ZodType<S> | undefined;
  /** Whether a kept state that does not fit stops the strategy (default), or is replaced by the initial one. */
  readonly misfit?: 'stop' | 'initial' | undefined;
}

/**
 * The state of one strategy beyond restarts: named parts, each with a reducer. A value is always parsed from its JSON
 * text, so a running strategy sees the same data as a restarted one.
 */
export class StateParts {
  readonly #kept: Readonly<Record<string, unknown>> | GannetError;
  readonly #warn: (warning: string) => void;
  readonly #texts = new Map<string, string>();
  #isHeld = false;
  #isSealed = false;
  #isChanged = false;

  /** `text` is the state that the strategy kept in an earlier run; `warn` reports to the operator. */
  constructor(text: string | undefined, warn: (warning: string) => void) {
    this.#kept = text === undefined ? {} : parseKept(text);
    this.#warn = warn;
  }

  /** Whether the strategy keeps a state. */
  get isUsed(): boolean {
    return this.#texts.size > 0;
  }

  /** Whether a value has changed since the text was last taken. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Stops folding events until `release`, because the events are older than the kept state. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Forbids further parts: a part that is opened later would have missed events. */
  seal(): void {
    this.#isSealed = true;
  }

  /** Opens a part; the implementation of `ctx.stateful`. Throws STRATEGY_INVALID. */
  open<S, E>(
    name: string, initial: S, reducer: (state: S, event: E) => S, options: StatefulOptions<S> = {},
  ): Stateful<S, E> {
    this.#refuseName(name);
    const { schema } = options;
    const beginning = this.#restored(name, initial, options);
    if (schema !== undefined) refuseUnreadable(schema, beginning, name);
    let text = writeState(beginning, name);
    let value = this.#put(name, text) as S;
    const fold = (event: E): Folded<S, E> => {
      if (this.#isHeld) return { state: value, event };
      const next = reducer(value, event);
      const nextText = next === value ? text : writeState(next, name);
      if (nextText !== text) {
        if (schema !== undefined) refuseUnreadable(schema, next, name);
        value = this.#put(name, nextText) as S;
        text = nextText;
      }
      return { state: value, event };
    };
    const operator = (source: Observable<E>): Observable<Folded<S, E>> => source.pipe(map(fold));
    return Object.defineProperty(operator, 'value', { get: () => value }) as Stateful<S, E>;
  }

  /** Returns the text of all parts, unopened ones included, and marks it as taken. */
  take(): string {
    this.#isChanged = false;
    return this.text;
  }

  /** The text of all parts, unopened ones included. */
  get text(): string {
    const unopened = Object.entries(this.#kept).filter(([name]) => !this.#texts.has(name))
      .map(([name, json]) => [name, JSON.stringify(json)] as const);
    const parts = [...this.#texts, ...unopened].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
    return `{${parts.join(',')}}`;
  }

  /** Marks the text as changed, because the taken one could not be saved. */
  markChanged(): void {
    this.#isChanged = true;
  }

  #refuseName(name: string): void {
    if (!/^[a-z][a-z0-9-]{0,62}$/.test(name)) {
      throw new GannetError(
        'STRATEGY_INVALID', `expected the name of a state to be lower case letters, digits and dashes, got "${name}"`,
      );
    }
    if (this.#texts.has(name))
      throw new GannetError('STRATEGY_INVALID', `two states have the name "${name}": give each its own`);
    if (this.#isSealed) throw new GannetError(
      'STRATEGY_INVALID',
      `the state "${name}" is asked for too late: call ctx.stateful in run itself, before it returns`,
    );
  }

  /** Stores a text and returns its data. */
  #put(name: string, text: string): unknown {
    let characters = text.length;
    for (const [other, otherText] of this.#texts) if (other !== name) characters += otherText.length;
    if (characters > STATE_MAX_CHARACTERS) {
      throw new GannetError('STRATEGY_INVALID',
        `the state "${name}" has grown to ${text.length} characters: a strategy keeps at most ${STATE_MAX_CHARACTERS} `
          + 'in all; keep less in it, a sum instead of a list say');
    }
    this.#texts.set(name, text);
    this.#isChanged = true;
    return fromJson(JSON.parse(text));
  }

  #restored<S>(name: string, initial: S, { schema, misfit = 'stop' }: StatefulOptions<S>): S {
    if (this.#kept instanceof GannetError) throw this.#kept;
    if (!Object.hasOwn(this.#kept, name)) return initial;
    const kept = fromJson(this.#kept[name]);
    const read = schema === undefined ? readLike(initial, kept) : readBy(schema, kept);
    if ('value' in read) return read.value;
    if (misfit === 'initial') {
      this.#warn(`begins with a new state "${name}", for the kept one does not fit: ${read.fault}`);
      return initial;
    }
    throw new GannetError('STRATEGY_INVALID',
      `the state "${name}" that an earlier run kept does not fit: ${read.fault}; let its schema read the older shape, `
        + `or allow a new beginning with { misfit: 'initial' }`);
  }
}

type Read<S> = { readonly value: S } | { readonly fault: string };

function parseKept(text: string): Readonly<Record<string, unknown>> | GannetError {
  try {
    const json: unknown = JSON.parse(text);
    if (kindOf(json) === 'an object') return json as Readonly<Record<string, unknown>>;
    return new GannetError('STRATEGY_INVALID', `expected the kept state to be an object, found ${kindOf(json)}`);
  } catch (cause) {
    return new GannetError(
      'STRATEGY_INVALID', `expected the kept state to be JSON, found: ${messageOf(cause)}`, { cause },
    );
  }
}

function readBy<S>(schema: z.ZodType<S>, kept: unknown): Read<S> {
  const parsed = schema.safeParse(kept);
  return parsed.success ? { value: parsed.data } : { fault: z.prettifyError(parsed.error) };
}

function refuseUnreadable<S>(schema: z.ZodType<S>, next: S, name: string): void {
  const read = readBy(schema, next);
  if ('fault' in read) throw new GannetError(
    'STRATEGY_INVALID', `the state "${name}" does not fit its own schema, so it could not be read again: ${read.fault}`,
  );
}

/** Returns the kept state where it has the form of the initial one; null in the initial state fits every value. */
function readLike<S>(initial: S, kept: unknown): Read<S> {
  const fault = unlike(initial, kept, 'it') ?? (isRecord(initial) && isRecord(kept)
    ? Object.keys(initial).map((key) => unlike(initial[key], kept[key], key)).find((found) => found !== undefined)
    : undefined);
  return fault === undefined ? { value: kept as S } : { fault };
}

function unlike(initial: unknown, kept: unknown, name: string): string | undefined {
  if (initial === null || initial === undefined || kindOf(initial) === kindOf(kept)) return undefined;
  return `expected ${name} to be ${kindOf(initial)}, found ${kindOf(kept)}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return kindOf(value) === 'an object';
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Marks a bigint in JSON, whose numbers are doubles. */
const BIGINT = '$bigint';
/** The deepest allowed nesting; it also ends circular references. */
const DEPTH_MAX = 64;

/**
 * Returns the JSON text of plain data: null, booleans, finite numbers, strings, bigints, and arrays and plain objects
 * of them. Members that are undefined are left out. Throws STRATEGY_INVALID on anything else, naming its place.
 */
function writeState(value: unknown, place: string): string {
  return JSON.stringify(asJson(value, place, 0));
}

/** Returns the data in parsed JSON of `writeState`, deeply frozen. */
function fromJson(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return Object.freeze(json.map(fromJson));
  const { [BIGINT]: digits } = json as { readonly [BIGINT]?: unknown };
  if (typeof digits === 'string') return BigInt(digits);
  return Object.freeze(Object.fromEntries(Object.entries(json).map(([key, member]) => [key, fromJson(member)])));
}

function asJson(value: unknown, place: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return { [BIGINT]: value.toString() };
    case 'number':
      if (Number.isFinite(value)) return value;
      throw refused(place, `the number ${value}`);
    case 'object':
      if (depth > DEPTH_MAX) throw refused(place.slice(0, 80), `more than ${DEPTH_MAX} levels`);
      return value === null ? null : objectAsJson(value, place, depth + 1);
    case 'undefined':
      throw refused(place, 'undefined');
    case 'function':
    case 'symbol':
      throw refused(place, `a ${typeof value}`);
  }
}

function objectAsJson(value: object, place: string, depth: number): unknown {
  if (Array.isArray(value))
    return Array.from(value as unknown[], (item, index) => asJson(item, `${place}[${index}]`, depth));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refused(place, `a ${value.constructor.name}`);
  if (Object.hasOwn(value, BIGINT)) throw refused(place, `a member "${BIGINT}", which stands for a bigint`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, asJson(member, `${place}.${key}`, depth)]));
}

function refused(place: string, found: string): GannetError {
  return new GannetError('STRATEGY_INVALID',
    `state ${place}: expected plain data (null, booleans, finite numbers, strings, bigints, arrays and objects of `
      + `them), got ${found}`);
}
