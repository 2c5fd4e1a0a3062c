import type { Unsubscribable } from 'rxjs';
import type { Clock, Millis } from '../../core/time.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import type { DeniedSwap } from '../../strategy/context.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { Proposal } from '../../trading/proposal.ts';
import type { ApartStrategy, Ending, PortfolioView, StrategyCall, StrategyEffect } from './strategy-call.ts';

/** A call of a strategy since the start of the run: both count from 1. */
export interface CallNumber {
  readonly start: number;
  readonly call: number;
}

/** Receives what a strategy does. */
interface ApartRunOptions {
  readonly strategy: ApartStrategy;
  /** The engine's clock. */
  readonly clock: Clock;
  readonly portfolio: PortfolioView;
  /** How often it was started, with this time. */
  readonly start: number;
  readonly propose: (proposal: Proposal) => void;
  readonly watch: (id: number, specs: readonly FeedSpec[], place: string | undefined) => void;
  readonly unwatch: (id: number) => void;
  readonly log: (message: string) => void;
  readonly warn: (message: string) => void;
  readonly state: (text: string) => void;
  readonly fail: (message: string, place: string | undefined) => void;
  readonly completed: () => void;
  /** Returns whether a timer may fire. */
  readonly mayFire: () => boolean;
  /** Its process ended during a call. */
  readonly ended: (occasion: CallNumber, ending: Ending) => void;
  /** Whether a run that is replayed ended it with this call, which is then not made. */
  readonly endedAt: (occasion: CallNumber) => boolean;
}

/** A strategy's state as text, where the strategy itself runs apart. */
export class KeptText {
  /** The state that an earlier run saved, or the newest of this run. */
  text: string | undefined;
  /** Whether the strategy of this run keeps a state. */
  isUsed = false;
  isChanged = false;

  constructor(kept: string | undefined) {
    this.text = kept;
  }

  put(text: string): void {
    this.text = text;
    this.isUsed = true;
    this.isChanged = true;
  }

  take(): string {
    this.isChanged = false;
    return this.text ?? '{}';
  }

  markChanged(): void {
    this.isChanged = true;
  }
}

type Body<C = StrategyCall> = C extends StrategyCall ? Omit<C, 'at'> : never;

/** A strategy that runs apart, from one start to its end: makes its calls, and carries its effects into the engine. */
export class ApartRun {
  readonly #options: ApartRunOptions;
  readonly #timers = new Map<number, Unsubscribable>();
  #calls = 0;
  #isOver = false;
  #isComplete = false;

  constructor(options: ApartRunOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return !this.#isOver && !this.#isComplete;
  }

  /** Whether it makes no further call. */
  get isOver(): boolean {
    return this.#isOver;
  }

  begin(given: { readonly warming: boolean; readonly kept: string | undefined }): void {
    this.#call({ kind: 'start', ...given });
  }

  release(): void {
    this.#call({ kind: 'release' });
  }

  event(input: number, event: MarketEvent): void {
    this.#call({ kind: 'event', input, event: asPlainData(event) });
  }

  outcome(outcome: Outcome): void {
    this.#call({ kind: 'outcome', outcome });
  }

  denial(denial: DeniedSwap): void {
    this.#call({ kind: 'denial', denial });
  }

  /** Unsubscribes it; what it does from then on has no effect. */
  stop(): void {
    if (this.#isOver) return;
    this.abandon();
    const { strategy, portfolio, clock } = this.#options;
    strategy.call({ kind: 'end', at: clock.now() }, portfolio);
  }

  /** Makes no further call. */
  abandon(): void {
    this.#isOver = true;
    for (const timer of this.#timers.values()) timer.unsubscribe();
    this.#timers.clear();
  }

  #call(body: Body): void {
    if (this.#isOver) return;
    const { strategy, portfolio, clock, start, ended, endedAt } = this.#options;
    const occasion = { start, call: ++this.#calls };
    if (endedAt(occasion)) {
      this.abandon();
      return;
    }
    const result = strategy.call({ ...body, at: clock.now() }, portfolio);
    if ('ending' in result) {
      this.abandon();
      ended(occasion, result.ending);
      return;
    }
    for (const effect of result.effects) {
      if (this.#isOver) return;
      this.#carryOut(effect);
    }
  }

  #carryOut(effect: StrategyEffect): void {
    const { propose, watch, unwatch, log, warn, state, fail } = this.#options;
    switch (effect.kind) {
      case 'propose': propose(effect.proposal); break;
      case 'schedule': if (effect.delay !== null) this.#schedule(effect.id, effect.delay); break;
      case 'cancel':
        this.#timers.get(effect.id)?.unsubscribe();
        this.#timers.delete(effect.id);
        break;
      case 'watch': watch(effect.id, effect.specs, effect.place); break;
      case 'unwatch': unwatch(effect.id); break;
      case 'log': log(effect.message); break;
      case 'state': state(effect.text); break;
      case 'warn': warn(effect.message); break;
      case 'fail': fail(effect.message, effect.place); break;
      case 'complete':
        this.#isComplete = true;
        this.#options.completed();
        break;
    }
  }

  #schedule(id: number, delay: Millis): void {
    this.#timers.get(id)?.unsubscribe();
    this.#timers.set(id, this.#options.clock.schedule(() => {
      this.#timers.delete(id);
      if (this.#options.mayFire()) this.#call({ kind: 'timer', id });
    }, delay));
  }
}

/** Rows of a recording are read member by member, from getters that no copy to another process keeps. */
function asPlainData(event: MarketEvent): MarketEvent {
  if (event.kind !== 'quote' || Object.getPrototypeOf(event) === Object.prototype) return event;
  const {
    kind, feed, receivedAt, eventAt, inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot,
    router, feeBps, rate,
  } = event;
  return {
    kind, feed, receivedAt, eventAt, inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot,
    router, feeBps, rate,
  };
}
