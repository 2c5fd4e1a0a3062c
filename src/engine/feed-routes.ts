import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey, isPolledOrigin, originOf, sharedFeeds } from '../market/feed.ts';
import { isFinerThan, takesSample } from '../market/sample-windows.ts';
import type { EngineState, StrategyRecord } from '../trading/engine-state.ts';
import type { FeedSlot } from '../trading/market-cache.ts';
import type { TakesPrice } from '../strategy/input.ts';
import { specsOf } from '../strategy/input.ts';
import type { HostedInput } from './host/watched-feeds.ts';
import type { StrategyInstance } from './host/host-port.ts';

interface FeedRoutesOptions {
  readonly state: EngineState;
  readonly intervals: ReadonlyMap<FeedKey, Millis> | undefined;
  /** Whether these are the intervals of a recording, at present; else a watch changes those of its feeds. */
  readonly isRecorded: boolean;
  /** The feeds that strategies watch beside their inputs, after each change. */
  readonly onWatched: (specs: readonly FeedSpec[]) => void;
}

/**
 * Returns the feeds of strategies and of their exit rules, without those that the engine makes itself: each once, at
 * the shortest interval.
 */
export function feedsOf(strategies: readonly StrategyInstance[]): FeedSpec[] {
  return sharedFeeds(strategies.flatMap(({ strategy, params, exits, limits }) => [
    ...Object.values(strategy.inputs(params)).flatMap(specsOf).filter((spec) => originOf(spec) !== 'engine'),
    ...((exits ?? limits?.exits)?.feeds ?? []),
  ]));
}

/** Returns the interval of each feed's events where every feed is polled at the shortest interval of its inputs. */
export function intervalsOf(strategies: readonly StrategyInstance[]): ReadonlyMap<FeedKey, Millis> {
  return new Map(feedsOf(strategies).map((spec) => [feedKey(spec), spec.everyMs]));
}

/** An input that takes prices: how the price follows from a quote's rate, and the operator that takes it. */
export interface PriceTaker {
  readonly priceOf: (rate: number) => number;
  readonly operator: { readonly takesPrice: TakesPrice };
}

/** Which inputs of strategies receive the events of each feed, and which of its events. */
export class FeedRoutes {
  readonly #state: EngineState;
  readonly #options: FeedRoutesOptions;
  /** The interval of each feed's events, where inputs are sampled. */
  #intervals: ReadonlyMap<FeedKey, Millis> | undefined;
  /** Whether changes of watches are reported together, later. */
  #isHeld = false;
  /** By feed slot: the inputs that receive the feed's events. */
  readonly #routes: (readonly HostedInput[])[] = [];
  /** What each strategy watches beside its inputs. */
  readonly #watches = new Map<string, readonly HostedInput[]>();
  /** The input that refused the price of the next event; negative where none did. Those before it took the price. */
  #refusing = -1;
  /** The feeds of watches that have begun or ended since the last input. */
  readonly #rewatched: HostedInput[] = [];

  constructor(options: FeedRoutesOptions) {
    this.#options = options;
    this.#intervals = options.intervals;
    this.#state = options.state;
  }

  get intervals(): ReadonlyMap<FeedKey, Millis> | undefined {
    return this.#intervals;
  }

  /** Whether watches have begun or ended since `sampleRewatched`. */
  get isRewatched(): boolean {
    return this.#rewatched.length > 0;
  }

  /** Adds the inputs of a strategy. */
  connect({ name, inputs }: { readonly name: string; readonly inputs: readonly HostedInput[] }): void {
    this.#noteInputs(name, inputs);
    for (const input of inputs) {
      if (input.origin !== 'engine') this.#routes[input.slot] = [...(this.#routes[input.slot] ?? []), input];
    }
  }

  /**
   * Carries out the switch to another version of a strategy, whose inputs take the places of the old ones. A watch that
   * both versions have goes on without a pause.
   */
  replace(
    old: readonly HostedInput[], intervals: ReadonlyMap<FeedKey, Millis>,
    switchOver: () => { readonly name: string; readonly inputs: readonly HostedInput[] },
  ): void {
    if (this.#intervals !== undefined) this.#intervals = intervals;
    this.#isHeld = true;
    const { name, inputs } = switchOver();
    this.#noteInputs(name, inputs);
    for (const input of inputs.filter(({ origin }) => origin !== 'engine')) {
      const route = this.#routes[input.slot] ?? [];
      const place = route.findIndex((other) => old.includes(other));
      this.#routes[input.slot] = place < 0 ? [...route, input] : route.with(place, input);
    }
    for (const input of old.filter(({ origin }) => origin !== 'engine')) {
      this.#routes[input.slot] = this.#routes[input.slot]!.filter((other) => other !== input);
    }
    this.#rewatched.push(...[...old, ...inputs].filter(({ origin }) => origin !== 'engine'));
    this.#isHeld = false;
    this.#reportWatches();
  }

  /**
   * Returns the inputs of a feed where each takes prices, in the order in which events are published; `last` where they
   * are the same as these. Undefined where one of them must see every event.
   */
  takersOf(slot: FeedSlot, last: readonly PriceTaker[] | undefined): readonly PriceTaker[] | undefined {
    const route = this.#routes[slot] ?? [];
    let isSame = last?.length === route.length;
    for (let i = 0; i < route.length; i++) {
      const { source: { taker }, priceOf, windows } = route[i]!;
      if (taker === undefined || priceOf === undefined || windows !== undefined) return undefined;
      isSame &&= last?.[i]?.operator === taker;
    }
    return isSame ? last : route.map(({ source, priceOf }) => ({ priceOf: priceOf!, operator: source.taker! }));
  }

  /** Says that an input refused the price of the event that is published next, and that those before it took it. */
  refuse(refusing: number): void {
    this.#refusing = refusing;
  }

  /** Whether a refused event has yet to be published. */
  get isRefused(): boolean {
    return this.#refusing >= 0;
  }

  /** Publishes an event that the market has just observed, which is why its slot is the last one. */
  publish(event: MarketEvent, at: Millis): void {
    const route = this.#routes[this.#state.market.lastSlot];
    const first = Math.max(0, this.#refusing);
    this.#refusing = -1;
    if (route === undefined) return;
    // Inputs of the same form share the function and so what it makes of the event.
    let converted: unknown;
    let convert: HostedInput['adapt'] | undefined;
    for (let i = first; i < route.length; i++) {
      const { source, adapt, fail, windows } = route[i]!;
      if (windows !== undefined && !takesSample(windows, at)) continue;
      try {
        if (adapt !== convert) {
          convert = undefined;
          converted = adapt(event);
          convert = adapt;
        }
        source.emit(converted);
      } catch (error) {
        fail(error);
      }
    }
  }

  /** Takes over what a strategy watches now; `changed` has begun, or ended. */
  rewatch(strategy: string, changed: readonly HostedInput[], inputs: readonly HostedInput[]): void {
    this.#watches.set(strategy, inputs);
    const record = this.#recordOf(strategy);
    const polled = inputs.filter(({ origin }) => isPolledOrigin(origin));
    this.#state.strategies.set(strategy, { ...record, watches: polled.map(({ slot }) => slot) });
    if (!this.#isHeld) this.#reportWatches();
    for (const input of changed) {
      const others = (this.#routes[input.slot] ?? []).filter((other) => other !== input);
      this.#routes[input.slot] = inputs.includes(input) ? [...others, input] : others;
    }
    this.#rewatched.push(...changed);
  }

  /**
   * Shows each input of a feed whose watches have changed events at its own interval, at whichever interval they come
   * from now on. An input that saw every event goes on after the window of its last one.
   */
  sampleRewatched(): void {
    const changed = this.#rewatched.splice(0);
    const { isRecorded } = this.#options;
    const intervals = this.#intervals;
    if (intervals === undefined) return;
    for (const { slot, feed } of changed) {
      const route = this.#routes[slot]!;
      const given = intervals.get(feed) ?? Infinity;
      const eventMs = isRecorded ? given : Math.min(given, ...route.map(({ spec }) => spec.everyMs));
      const lastAt = this.#state.market.latest(slot)?.receivedAt ?? -Infinity;
      for (const input of route) {
        const { everyMs } = input.spec;
        if (!isFinerThan(eventMs, input.spec)) input.windows = undefined;
        else input.windows ??= { everyMs, window: changed.includes(input) ? -Infinity : Math.floor(lastAt / everyMs) };
      }
    }
  }

  #reportWatches(): void {
    this.#options.onWatched([...this.#watches.values()].flat()
      .filter(({ origin }) => isPolledOrigin(origin)).map(({ spec }) => spec));
  }

  #noteInputs(name: string, inputs: readonly HostedInput[]): void {
    const polled = inputs.filter(({ origin }) => isPolledOrigin(origin));
    this.#state.strategies.set(name, { ...this.#recordOf(name), inputs: polled.map(({ slot }) => slot) });
  }

  #recordOf(strategy: string): StrategyRecord {
    const record = this.#state.strategies.get(strategy);
    assert(record, () => `strategy ${strategy} has no record in the state`);
    return record;
  }
}
