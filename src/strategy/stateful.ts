import type { Observable, OperatorFunction } from 'rxjs';
import { map } from 'rxjs';
import { z } from 'zod';
import { GannetError, messageOf } from '../core/errors.ts';
import { fromJson, writeState } from './state-text.ts';

/** The most that one strategy may keep, characters of JSON. */
export const STATE_MAX_CHARACTERS = 65_536;

/** An event with the state after it. */
export interface Folded<S, E> {
  readonly state: S;
  readonly event: E;
}

/** Folds each event of its source into the state and emits both. */
export interface Stateful<S, E> extends OperatorFunction<E, Folded<S, E>> {
  /** The state as it stands, frozen. */
  readonly value: S;
}

/** How a kept state is read again. */
export interface StatefulOptions<S> {
  /**
   * What the state looks like. It reads what an earlier version kept, so a union with a transform can carry an older
   * shape over; and each new state is held against it, so that nothing is kept that could not be read again. Without
   * one, a kept state must be of the initial one's kind and have its members.
   */
  readonly schema?: z.ZodType<S> | undefined;
  /** What to do with a kept state that does not fit: stop the strategy, unless it may begin anew. */
  readonly misfit?: 'stop' | 'initial' | undefined;
}

/**
 * What one strategy keeps beyond a restart: named parts, each a value that a reducer makes of the one before. A value
 * is always what its JSON text says, so a strategy that goes on sees the very data that a restarted one would.
 */
export class StateParts {
  readonly #kept: Readonly<Record<string, unknown>> | GannetError;
  readonly #tell: (warning: string) => void;
  readonly #texts = new Map<string, string>();
  #isHeld = false;
  #isSealed = false;
  #isChanged = false;

  /** `text` is what the strategy kept in an earlier run; `tell` takes what its operator should know. */
  constructor(text: string | undefined, tell: (warning: string) => void) {
    this.#kept = text === undefined ? {} : parseKept(text);
    this.#tell = tell;
  }

  /** Whether the strategy keeps anything. */
  get isUsed(): boolean {
    return this.#texts.size > 0;
  }

  /** Whether a value changed since the text was last taken. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** From here on events are not folded, until `release`: they are older than what is kept. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** No further part may be opened: one that is asked for later would have missed what came before. */
  seal(): void {
    this.#isSealed = true;
  }

  /** Opens a part; the design of `ctx.stateful`. Throws STRATEGY_INVALID. */
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

  /** Returns the text of all parts, those included that nobody opened this time, and notes that it is known. */
  take(): string {
    this.#isChanged = false;
    const unopened = Object.entries(this.#kept).filter(([name]) => !this.#texts.has(name))
      .map(([name, json]) => [name, JSON.stringify(json)] as const);
    const parts = [...this.#texts, ...unopened].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
    return `{${parts.join(',')}}`;
  }

  /** Notes that the text that was taken is not known after all. */
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

  /** Keeps a text and returns its data. */
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
      this.#tell(`begins with a new state "${name}", for the kept one does not fit: ${read.fault}`);
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

/** Takes what is kept as it is where it looks like the initial state; null stands for anything. */
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
