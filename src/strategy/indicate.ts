import type { OperatorFunction } from 'rxjs';
import { defer, EMPTY, map, mergeMap, Observable, of } from 'rxjs';
import { GannetError, messageOf } from '../core/errors.ts';
import type { StrategyContext } from './context.ts';
import type { Folded } from './stateful.ts';

/** A streaming indicator: a class of `technical-indicators.ts`, or one of your own. */
export interface Indicator<Input, Result> {
  /** Takes the next input, and returns the result; null while there is none. */
  readonly add: (input: Input) => Result | null;
  /** Whether it has seen enough inputs for its results to count. */
  readonly isStable: boolean;
  /** Returns how many inputs it needs, where that is known. */
  readonly getRequiredInputs?: () => number;
}

/** Makes a fresh indicator. */
type Create<Input, Result> = () => Indicator<Input, Result>;

/** What an indicator takes of an element of a stream: the price of a quote, and everything else as it is. */
export type IndicatorInput<S> = S extends { readonly price: number } ? number : S;

/** Several indicators over one stream, by the names of their results. */
type Group<S> = Readonly<Record<string, Create<IndicatorInput<S>, unknown>>> & {
  readonly input?: never; readonly isStable?: never;
};

type Results<G> = { readonly [K in keyof G]: G[K] extends Create<never, infer R> ? R : never };

/** An element of the stream with the results after it. */
type Stable<S, R> = { readonly input: S; readonly isStable: true } & R;

/** An element of the stream before every indicator has a result. */
type Unstable<S, R> = { readonly input: S; readonly isStable: false } & { readonly [K in keyof R]: R[K] | undefined };

/** What `indicate` keeps over restarts. */
export interface KeepInputs {
  readonly context: Pick<StrategyContext, 'stateful'>;
  /** The name among the states of the strategy. */
  readonly name: string;
  /**
   * How many inputs a result depends on at least; at most twice as many are kept. The same results follow whether or
   * not the strategy was restarted in between.
   */
  readonly inputs: number;
}

/** What `indicate` emits, and what it keeps. */
export interface IndicateOptions {
  /** Whether it is silent until every indicator is stable (default), or emits `isStable: false` until then. */
  readonly emit?: 'stable' | 'always' | undefined;
  readonly keep?: KeepInputs | undefined;
}

/**
 * Feeds a stream of numbers, quotes or bars to an indicator, and emits each element as `input` with the result as
 * `value`; or to several, `{ fast: () => new EMA(12), slow: () => new EMA(26) }`, with their results by name, all of
 * the same element. Of a quote it takes the price.
 *
 * It is silent until all are stable. An indicator whose result is no finite number (a division by zero) starts over, so
 * that it cannot stay broken. An input that is not finite stops the strategy with the line of this call.
 */
export function indicate<S, R>(
  create: Create<NoInfer<IndicatorInput<S>>, R>, options?: IndicateOptions & { readonly emit?: 'stable' | undefined },
): OperatorFunction<S, Stable<S, { readonly value: R }>>;
export function indicate<S, R>(
  create: Create<NoInfer<IndicatorInput<S>>, R>, options: IndicateOptions & { readonly emit: 'always' },
): OperatorFunction<S, Stable<S, { readonly value: R }> | Unstable<S, { readonly value: R }>>;
export function indicate<S, G extends Group<S>>(
  create: G, options?: IndicateOptions & { readonly emit?: 'stable' | undefined },
): OperatorFunction<S, Stable<S, Results<G>>>;
export function indicate<S, G extends Group<S>>(
  create: G, options: IndicateOptions & { readonly emit: 'always' },
): OperatorFunction<S, Stable<S, Results<G>> | Unstable<S, Results<G>>>;
export function indicate<S>(
  create: Create<unknown, unknown> | Readonly<Record<string, Create<unknown, unknown>>>,
  { emit = 'stable', keep }: IndicateOptions = {},
): OperatorFunction<S, unknown> {
  const author = new Error('indicate');
  const creates = Object.entries(typeof create === 'function' ? { value: create } : create);
  const taken = creates.find(([name]) => name === 'input' || name === 'isStable');
  if (taken !== undefined)
    throw new GannetError('STRATEGY_INVALID', `expected another name for a result than "${taken[0]}", which is in use`);
  // A faulty parameter is reported where it is given, not at the first event.
  for (const [, one] of creates) one();
  const start = (): Indicators => new Indicators(creates, author);
  const isWanted = ({ isStable }: Emitted): boolean => isStable || emit === 'always';
  return keep === undefined ? streaming(start, isWanted) : keeping(start, isWanted, keep);
}

/** Returns a maker of indicators that take a member of each input, or what a function returns of it. */
export function over<K extends string, R>(
  member: K, create: Create<number, R>,
): Create<Readonly<Record<K, number>>, R>;
export function over<I, J, R>(pick: (input: I) => J, create: Create<J, R>): Create<I, R>;
export function over<R>(pick: string | ((input: never) => unknown), create: Create<never, R>): Create<never, R> {
  const isMember = typeof pick === 'string';
  const pickFrom: (input: never) => unknown = isMember ? (input) => input[pick] : pick;
  return () => {
    const inner = create();
    return {
      add: (input) => {
        const picked = pickFrom(input);
        refuseInfinite(picked, isMember ? pick : 'what is picked');
        return inner.add(picked as never);
      },
      get isStable() { return inner.isStable; },
      getRequiredInputs: () => inner.getRequiredInputs?.() ?? 1,
    };
  };
}

/**
 * Returns a maker of indicators that give the result before the present input: the channel that a bar can break out of
 * is that of the bars before it.
 */
export function previous<I, R>(create: Create<I, R>): Create<I, R> {
  return () => {
    const inner = create();
    let before: R | null = null;
    let last: R | null = null;
    return {
      add: (input) => {
        before = last;
        const result = inner.add(input);
        last = inner.isStable ? result : null;
        return before;
      },
      get isStable() { return before !== null; },
      getRequiredInputs: () => (inner.getRequiredInputs?.() ?? 1) + 1,
    };
  };
}

/**
 * Returns a maker of indicators whose results count after so many inputs. A recursive mean depends on its first inputs
 * for longer than it needs to have a result at all: for about four times its window.
 */
export function settled<I, R>(inputs: number, create: Create<I, R>): Create<I, R> {
  return () => {
    const inner = create();
    let seen = 0;
    return {
      add: (input) => {
        seen += 1;
        return inner.add(input);
      },
      get isStable() { return seen >= inputs && inner.isStable; },
      getRequiredInputs: () => Math.max(inputs, inner.getRequiredInputs?.() ?? 1),
    };
  };
}

interface Emitted {
  readonly input: unknown;
  readonly isStable: boolean;
}
/** Indicators that take the same inputs. */
class Indicators {
  readonly #creates: readonly (readonly [name: string, create: Create<unknown, unknown>])[];
  readonly #running: Indicator<unknown, unknown>[];
  readonly #author: Error;

  constructor(creates: readonly (readonly [string, Create<unknown, unknown>])[], author: Error) {
    this.#creates = creates;
    this.#running = creates.map(([, create]) => create());
    this.#author = author;
  }

  /** How many inputs the slowest needs, as far as that is known. */
  get needs(): number {
    return Math.max(...this.#running.map((one) => one.getRequiredInputs?.() ?? 1));
  }

  /** Throws STRATEGY_INVALID with the author's line unless what is taken is finite. */
  check(taken: unknown): void {
    try {
      refuseInfinite(taken, 'input');
    } catch (error) {
      throw this.#fault(error);
    }
  }

  /** Takes what a strategy was given; returns it with the results. Throws STRATEGY_INVALID with the author's line. */
  take(input: unknown, taken: unknown): Emitted {
    this.check(taken);
    try {
      const emitted: Record<string, unknown> & { isStable: boolean } = { input, isStable: true };
      for (let i = 0; i < this.#running.length; i++) {
        const [name, create] = this.#creates[i]!;
        const one = this.#running[i]!;
        const result = one.add(taken);
        const isStable = result !== null && one.isStable;
        const counts = isStable && isFinite(result);
        if (isStable && !counts) this.#running[i] = create();
        emitted[name] = counts ? result : undefined;
        if (!counts) emitted.isStable = false;
      }
      return emitted as Emitted & Record<string, unknown>;
    } catch (error) {
      throw this.#fault(error);
    }
  }

  /** Returns an error at the author's line: at an event, no frame of the stack is in the author's file. */
  #fault(cause: unknown): GannetError {
    const message = messageOf(cause);
    const error = new GannetError('STRATEGY_INVALID', message, { cause });
    const [, ...frames] = (this.#author.stack ?? '').split('\n');
    error.stack = [`${error.name}: ${message}`, ...frames].join('\n');
    return error;
  }
}

type Wanted = (emitted: Emitted) => boolean;

function streaming<S>(start: () => Indicators, isWanted: Wanted): OperatorFunction<S, unknown> {
  return (source) => new Observable((subscriber) => {
    const indicators = start();
    return source.subscribe({
      next: (input) => {
        let emitted: Emitted;
        try {
          emitted = indicators.take(input, takenFrom(input));
        } catch (error) {
          subscriber.error(error);
          return;
        }
        if (isWanted(emitted)) subscriber.next(emitted);
      },
      error: (error: unknown) => { subscriber.error(error); },
      complete: () => { subscriber.complete(); },
    });
  });
}

/** Inputs in a row, each a line of JSON: a text is saved many times faster than an array. */
interface Inputs {
  readonly length: number;
  readonly text: string;
}

const NONE: Inputs = { length: 0, text: '' };

/** Returns the inputs with one more; twice `size` of them are cut to the last `size`. */
function withInput({ length, text }: Inputs, line: string, size: number): Inputs {
  const all = `${text}${line}\n`;
  if (length + 1 < 2 * size) return { length: length + 1, text: all };
  let cut = -1;
  for (let i = 0; i < size; i += 1) cut = all.indexOf('\n', cut + 1);
  return { length: size, text: all.slice(cut + 1) };
}

/** What is kept: the inputs since the running indicators began, and how many there have ever been. */
interface Kept extends Inputs {
  readonly count: number;
}

/** An element with what is taken of it. */
interface Seen<S> {
  readonly input: S;
  readonly taken: unknown;
  readonly line: string;
  /** The inputs of a warm-up before the first kept one. */
  readonly earlier: Inputs;
}

/**
 * Keeps inputs, and computes the results from those alone, so that a restart repeats them. After every
 * `size` inputs fresh indicators begin beside those that run, and replace them when they have seen as many.
 */
function keeping<S>(
  start: () => Indicators, isWanted: Wanted, { context, name, inputs: size }: KeepInputs,
): OperatorFunction<S, unknown> {
  const first = start();
  if (!Number.isSafeInteger(size) || size < first.needs) {
    throw new GannetError('STRATEGY_INVALID',
      `the kept inputs "${name}": expected a whole number of at least ${first.needs}, which the indicator needs, `
        + `got ${size}`);
  }
  const initial: Kept = { count: 0, ...NONE };
  const state = context.stateful(name, initial, (kept, { line, earlier }: Seen<S>) =>
    ({ count: kept.count + 1, ...withInput(kept.count === 0 ? earlier : kept, line, size) }));
  let isUsed = false;
  return (source) => defer(() => {
    if (isUsed)
      throw new GannetError('STRATEGY_INVALID', `the kept inputs "${name}" serve one stream; share the results`);
    isUsed = true;
    const blocks = new Blocks(start, size, state.value);
    let { count } = state.value;
    let earlier = NONE;
    return source.pipe(
      map((input): Seen<S> => {
        const taken = takenFrom(input);
        first.check(taken);
        return { input, taken, line: JSON.stringify(taken), earlier };
      }),
      state,
      mergeMap(({ state: { count: now }, event: { input, taken, line } }: Folded<Kept, Seen<S>>) => {
        // During a warm-up the state stands still: it is younger than the recorded inputs, unless it is still empty.
        const isHeld = now === count;
        if (isHeld && count > 0) return EMPTY;
        if (isHeld) earlier = withInput(earlier, line, size);
        count = now;
        const emitted = blocks.take(input, taken);
        return isWanted(emitted) ? of(emitted) : EMPTY;
      }),
    );
  });
}

/** The running indicators, and the ones that will take over. */
class Blocks {
  readonly #start: () => Indicators;
  readonly #size: number;
  #running: Indicators;
  #next: Indicators;
  /** How many inputs the running ones have seen. */
  #length = 0;

  constructor(start: () => Indicators, size: number, { text }: Inputs) {
    this.#start = start;
    this.#size = size;
    this.#running = start();
    this.#next = start();
    for (const line of text.split('\n').slice(0, -1)) {
      const input: unknown = JSON.parse(line);
      this.take(input, input);
    }
  }

  take(input: unknown, taken: unknown): Emitted {
    const emitted = this.#running.take(input, taken);
    if (this.#length >= this.#size) this.#next.take(input, taken);
    this.#length += 1;
    if (this.#length === 2 * this.#size) {
      this.#running = this.#next;
      this.#next = this.#start();
      this.#length = this.#size;
    }
    return emitted;
  }
}

/** Returns what indicators take of an element: the price of a quote. */
function takenFrom(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const { price } = input as { readonly price?: unknown };
  return typeof price === 'number' ? price : input;
}

const PRICES = ['open', 'high', 'low', 'close', 'volume'] as const;

/** Throws where a number, or a price of a bar, is not finite. */
function refuseInfinite(taken: unknown, what: string): void {
  if (typeof taken === 'number' && Number.isFinite(taken)) return;
  if (typeof taken !== 'object' || taken === null) throw notFinite(what, taken);
  for (const price of PRICES) {
    const value = (taken as Readonly<Record<string, unknown>>)[price];
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value))) throw notFinite(price, value);
  }
}

function notFinite(what: string, found: unknown): TypeError {
  const shown = String(found).slice(0, 40);
  return new TypeError(`an indicator expects finite numbers or bars of them, got ${what} ${shown}`);
}

/** Whether a result is a finite number, or has no member that is another. */
function isFinite(result: unknown): boolean {
  if (typeof result === 'number') return Number.isFinite(result);
  if (typeof result !== 'object' || result === null) return true;
  return Object.values(result).every((member) => typeof member !== 'number' || Number.isFinite(member));
}
