import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { isPolledOrigin } from '../market/feed.ts';
import { isFinerThan, takesSample } from '../market/sample-windows.ts';
import type { EngineState, StrategyRecord } from '../trading/engine-state.ts';
import type { HostedInput } from './host/watched-feeds.ts';

interface FeedRoutesOptions {
  readonly state: EngineState;
  /** The interval of each feed's events, where inputs are sampled. */
  readonly intervals: ReadonlyMap<FeedKey, Millis> | undefined;
  /** Whether these are the intervals of a recording, at present; else a watch changes those of its feeds. */
  readonly isRecorded: boolean;
  /** The feeds that strategies watch beside their inputs, after each change. */
  readonly onWatched: ((specs: readonly FeedSpec[]) => void) | undefined;
}

/** Which inputs of strategies receive the events of each feed, and which of its events. */
export class FeedRoutes {
  readonly #state: EngineState;
  readonly #options: FeedRoutesOptions;
  /** By feed slot: the inputs that receive the feed's events. */
  readonly #routes: (readonly HostedInput[])[] = [];
  /** What each strategy watches beside its inputs. */
  readonly #watches = new Map<string, readonly HostedInput[]>();
  /** The feeds of watches that have begun or ended since the last input. */
  readonly #rewatched: HostedInput[] = [];

  constructor(options: FeedRoutesOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** Whether watches have begun or ended since `sampleRewatched`. */
  get isRewatched(): boolean {
    return this.#rewatched.length > 0;
  }

  /** Adds the inputs of a strategy. */
  connect({ name, inputs }: { readonly name: string; readonly inputs: readonly HostedInput[] }): void {
    const record = this.#recordOf(name);
    const polled = inputs.filter(({ origin }) => isPolledOrigin(origin));
    this.#state.strategies.set(name, { ...record, inputs: polled.map(({ slot }) => slot) });
    for (const input of inputs) {
      if (input.origin !== 'engine') this.#routes[input.slot] = [...(this.#routes[input.slot] ?? []), input];
    }
  }

  /** Publishes an event that the market has just observed, which is why its slot is the last one. */
  publish(event: MarketEvent, at: Millis): void {
    const route = this.#routes[this.#state.market.lastSlot];
    if (route === undefined) return;
    // Inputs of the same form share the function and so what it makes of the event.
    let converted: unknown;
    let convert: HostedInput['adapt'] | undefined;
    for (let i = 0; i < route.length; i++) {
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
    this.#options.onWatched?.([...this.#watches.values()].flat()
      .filter(({ origin }) => isPolledOrigin(origin)).map(({ spec }) => spec));
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
    const { intervals, isRecorded } = this.#options;
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

  #recordOf(strategy: string): StrategyRecord {
    const record = this.#state.strategies.get(strategy);
    assert(record, () => `strategy ${strategy} has no record in the state`);
    return record;
  }
}
