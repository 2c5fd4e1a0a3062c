import type { SchedulerAction } from 'rxjs';
import { Subscription } from 'rxjs';
import { assert } from '../../core/assert.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { DeniedSwap } from '../../strategy/context.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { Strategy } from '../../strategy/define.ts';
import type { Input } from '../../strategy/input.ts';
import { deliverer, specsOf } from '../../strategy/input.ts';
import { StateParts } from '../../strategy/stateful.ts';
import type { Outcome } from '../../trading/intent.ts';
import { readProposal } from '../../trading/proposal.ts';
import { HotSource } from '../hot-source.ts';
import { runOnStreams } from './named-streams.ts';
import type { ApartStrategy, PortfolioView, StrategyCall, StrategyEffect } from './strategy-call.ts';
import { createContext, faultyCallOf } from './strategy-context.ts';

interface RealmOptions {
  readonly name: string;
  readonly strategy: Strategy;
  /** Already read by the strategy's own schema. */
  readonly params: unknown;
  readonly seed: number | string;
  /** Returns the author's line of an error. */
  readonly locate?: ((error: unknown) => string | undefined) | undefined;
}

/** The side of a strategy that runs apart: its streams, its timers and its state. */
export interface Realm {
  /** Carries out one call and returns its effects. Throws nothing that the strategy threw. */
  handle(call: StrategyCall, portfolio: PortfolioView): StrategyEffect[];
  /** Returns what it did between two calls, where nothing can be repeated; undefined where it did nothing. */
  late(): string | undefined;
  /** Returns what it still holds: after the call `end` that is nothing, unless it leaks. */
  held(): HeldThings;
}

/** What a strategy holds of the engine. */
export interface HeldThings {
  /** The names of the streams that it subscribes to: its inputs, `outcomes$` and `denials$`. */
  readonly streams: readonly string[];
  readonly watches: number;
  readonly timers: number;
}

const outside = (what: string): string =>
  `it ${what} outside the engine’s time: use the time operators of src/strategy, no timers or promises`;

/** Returns the realm of one strategy, which runs with the call `start`. */
export function createRealm(options: RealmOptions): Realm {
  let run: StrategyRun | undefined;
  return {
    handle: (call, portfolio) => {
      if (call.kind === 'start') run = new StrategyRun(options);
      assert(run, 'a strategy is started before anything else');
      return run.handle(call, portfolio);
    },
    late: () => run?.late,
    held: () => run?.held() ?? { streams: [], watches: 0, timers: 0 },
  };
}

/** Returns a strategy that runs apart from the engine, but in this process: for replays of runs that stopped one. */
export function inThisProcess(realm: Realm): ApartStrategy {
  return { call: (call, portfolio) => ({ effects: realm.handle(call, portfolio) }) };
}

/** A strategy from its start to its end. */
class StrategyRun {
  readonly #options: RealmOptions;
  readonly #outcomes = new HotSource<Outcome>();
  readonly #denials = new HotSource<DeniedSwap>();
  readonly #inputs: readonly { readonly deliver: (event: MarketEvent) => void }[];
  readonly #watches = new Map<number, (event: MarketEvent) => void>();
  #lastWatch: number;
  readonly #streams: Readonly<Record<string, HotSource<unknown>>>;
  readonly #clock: RealmClock;
  #effects: StrategyEffect[] = [];
  #portfolio: PortfolioView | undefined;
  #parts: StateParts | undefined;
  #subscription: Subscription | undefined;
  #failed = false;
  late: string | undefined;

  constructor(options: RealmOptions) {
    this.#options = options;
    this.#clock = new RealmClock((effect) => { this.#effects.push(effect); });
    const declared = Object.entries(options.strategy.inputs(options.params))
      .map(([name, input]) => {
        const source = new HotSource<unknown>();
        return { name, source, deliver: deliverer(input, (value) => { source.emit(value); }) };
      });
    this.#inputs = declared;
    this.#lastWatch = declared.length;
    this.#streams = Object.fromEntries(declared.map(({ name, source }) => [name, source]));
  }

  handle(call: StrategyCall, portfolio: PortfolioView): StrategyEffect[] {
    this.#effects = [];
    this.#portfolio = portfolio;
    this.#clock.moveTo(call.at);
    try {
      this.#carryOut(call);
    } catch (error) {
      this.#fail(error);
    }
    if (this.#parts?.isChanged === true) this.#effects.push({ kind: 'state', text: this.#parts.take() });
    this.#portfolio = undefined;
    return this.#effects;
  }

  held(): HeldThings {
    const sources = { ...this.#streams, outcomes$: this.#outcomes, denials$: this.#denials };
    return {
      streams: Object.entries(sources).filter(([, source]) => source.isObserved).map(([name]) => name),
      watches: this.#watches.size, timers: this.#clock.waiting,
    };
  }

  #carryOut(call: StrategyCall): void {
    switch (call.kind) {
      case 'start': this.#start(call); break;
      case 'release': this.#parts?.release(); break;
      case 'event': {
        const deliver = this.#inputs[call.input]?.deliver ?? this.#watches.get(call.input);
        assert(deliver, () => `the strategy has no input ${call.input}`);
        deliver(call.event);
        break;
      }
      case 'outcome': this.#outcomes.emit(call.outcome); break;
      case 'denial': this.#denials.emit(call.denial); break;
      case 'timer': this.#clock.fire(call.id); break;
      case 'end': this.#subscription?.unsubscribe(); break;
    }
  }

  #start({ warming, kept }: Extract<StrategyCall, { kind: 'start' }>): void {
    const { strategy, params } = this.#options;
    const parts = new StateParts(kept, (message) => { this.#effects.push({ kind: 'warn', message }); });
    this.#parts = parts;
    if (warming) parts.hold();
    const proposals$ = runOnStreams(this.#streams, (streams) => strategy.run(streams, params, this.#context(parts)));
    parts.seal();
    this.#subscription = proposals$.subscribe({
      next: (proposal) => { this.#propose(proposal); },
      error: (error: unknown) => { this.#fail(error); },
      complete: () => { this.#effects.push({ kind: 'complete' }); },
    });
    // It failed before `subscribe` returned.
    if (this.#failed) this.#subscription.unsubscribe();
  }

  #propose(value: unknown): void {
    if (this.#portfolio === undefined) {
      this.late ??= outside('proposed');
      return;
    }
    const proposal = readProposal(value);
    if (typeof proposal === 'string') this.#fail(faultyCallOf(value) ?? new TypeError(proposal));
    else this.#effects.push({ kind: 'propose', proposal });
  }

  #watch(input: Input<unknown>, emit: (value: unknown) => void, asked: Error): () => void {
    const id = ++this.#lastWatch;
    this.#watches.set(id, deliverer(input, emit));
    this.#tellWatch({ kind: 'watch', id, specs: specsOf(input), place: this.#options.locate?.(asked) });
    return () => {
      this.#watches.delete(id);
      this.#tellWatch({ kind: 'unwatch', id });
    };
  }

  #tellWatch(effect: StrategyEffect): void {
    if (this.#portfolio === undefined) this.late ??= outside('began or ended a watch');
    else this.#effects.push(effect);
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#subscription?.unsubscribe();
    const code = isGannetError(error) ? error.code : undefined;
    this.#effects.push({ kind: 'fail', message: messageOf(error), place: this.#options.locate?.(error), code });
  }

  get #view(): PortfolioView {
    assert(this.#portfolio, 'a strategy knows its portfolio only during a call');
    return this.#portfolio;
  }

  #context(parts: StateParts): ReturnType<typeof createContext> {
    const { name, seed } = this.#options;
    return createContext({
      name, seed, clock: this.#clock, parts, outcomes$: this.#outcomes, denials$: this.#denials,
      portfolio: {
        available: (mint) => this.#view.available(mint),
        openIntents: () => this.#view.openIntents(),
        holding: (mint) => this.#view.holding(mint),
        equity: () => this.#view.equity(),
        budget: () => this.#view.budget(),
      },
      log: (message) => { this.#effects.push({ kind: 'log', message }); },
      watch: (input, emit, asked) => this.#watch(input, emit, asked),
    });
  }
}

/** A clock that stands still during a call. Its timers wait on the engine's clock. */
class RealmClock implements Clock {
  #now: Millis = 0;
  #lastId = 0;
  readonly #report: (effect: StrategyEffect) => void;
  readonly #timers = new Map<number, RealmTimer>();

  constructor(report: (effect: StrategyEffect) => void) {
    this.#report = report;
  }

  now(): Millis {
    return this.#now;
  }

  /** The number of timers that have neither fired nor been cancelled. */
  get waiting(): number {
    return this.#timers.size;
  }

  moveTo(at: Millis): void {
    this.#now = at;
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription {
    const timer = new RealmTimer(this, ++this.#lastId, work as RealmTimer['work']);
    return timer.schedule(state, delay);
  }

  /** Fires a timer; one that was cancelled in the same call does nothing. */
  fire(id: number): void {
    const timer = this.#timers.get(id);
    this.#timers.delete(id);
    timer?.fire();
  }

  enqueue(timer: RealmTimer, delay: Millis): void {
    assert(!Number.isNaN(delay), 'a timer needs a delay that is a number');
    this.#timers.set(timer.id, timer);
    this.#report({ kind: 'schedule', id: timer.id, delay: delay === Infinity ? null : Math.max(0, delay) });
  }

  forget({ id }: RealmTimer): void {
    if (this.#timers.delete(id)) this.#report({ kind: 'cancel', id });
  }
}

/** One scheduled action; it can reschedule itself, as RxJS's `interval` does. */
class RealmTimer extends Subscription implements SchedulerAction<unknown> {
  readonly id: number;
  readonly work: (this: SchedulerAction<unknown>, state?: unknown) => void;
  readonly #clock: RealmClock;
  #state: unknown;

  constructor(clock: RealmClock, id: number, work: RealmTimer['work']) {
    super(() => { clock.forget(this); });
    this.#clock = clock;
    this.id = id;
    this.work = work;
  }

  schedule(state?: unknown, delay = 0): Subscription {
    if (this.closed) return this;
    this.#state = state;
    this.#clock.enqueue(this, delay);
    return this;
  }

  fire(): void {
    if (!this.closed) this.work.call(this, this.#state);
  }
}
