import { messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey, originOf } from '../../market/feed.ts';
import type { FeedOrigin } from '../../market/feeds/feed-kind.ts';
import type { SampleWindows } from '../../market/sample-windows.ts';
import { isFinerThan } from '../../market/sample-windows.ts';
import type { Input } from '../../strategy/input.ts';
import { deliverer } from '../../strategy/input.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { FeedSlot } from '../../trading/market-cache.ts';
import type { HotSource } from '../hot-source.ts';
import type { createUsage } from '../strategy-usage.ts';

/** How many feeds a strategy may watch at once beside its inputs, in runs from before there was a limit. */
const WATCHES_MAX = 20;

/** A feed of an input with the stream that it feeds. */
export interface HostedInput {
  readonly spec: FeedSpec;
  readonly feed: FeedKey;
  readonly slot: FeedSlot;
  /** What makes its events. */
  readonly origin: FeedOrigin;
  readonly adapt: (event: MarketEvent) => unknown;
  readonly source: { emit(value: unknown): void };
  /** Undefined where it sees every event. A watch of the same feed may change that. */
  windows: SampleWindows | undefined;
  /** Takes an error of `adapt`, which is a fault of this strategy alone. */
  readonly fail: (error: unknown) => void;
}

/** The part of the engine in which feeds have their slots and intervals. */
interface FeedPlaces {
  readonly state: Pick<EngineState, 'market' | 'limits'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The interval of each feed's events, where inputs are sampled. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
}

/** Returns the entry of one feed of an input. */
export function hostedFeed(spec: FeedSpec, { places, adapt, source, fail }: {
  readonly places: FeedPlaces;
} & Pick<HostedInput, 'adapt' | 'source' | 'fail'>): HostedInput {
  const feed = feedKey(spec);
  return {
    spec, feed, adapt, source, fail,
    origin: originOf(spec),
    windows: isFinerThan(places.intervals?.get(feed), spec) ? { everyMs: spec.everyMs, window: -Infinity } : undefined,
    slot: places.state.market.slotOf(feed),
  };
}

/** Returns how the events of an input reach its stream: most are converted one by one, without a further call. */
export function streamOf(input: Input<unknown>, stream: HotSource<unknown>): Pick<HostedInput, 'adapt' | 'source'> {
  if (input.assemble === undefined) return { adapt: input.adapt, source: stream };
  const deliver = deliverer(input, (value) => { stream.emit(value); });
  return { adapt: unchanged, source: { emit: (event) => { deliver(event as MarketEvent); } } };
}

/** Returns the event itself, for a strategy that adapts it on its own side. */
export function unchanged(event: MarketEvent): unknown {
  return event;
}

interface WatchedFeedsOptions {
  readonly places: FeedPlaces;
  readonly usage: Pick<ReturnType<typeof createUsage>, 'watch'>;
  /** Called after each begin and each end of a watch; `inputs` are all that it watches now. */
  readonly changed: (changed: readonly HostedInput[], inputs: readonly HostedInput[]) => void;
  readonly fail: (message: string, place?: string) => void;
}

/** What a strategy watches beside its inputs, by the number of each watch. */
export class WatchedFeeds {
  readonly #options: WatchedFeedsOptions;
  readonly #watches = new Map<number, readonly HostedInput[]>();

  constructor(options: WatchedFeedsOptions) {
    this.#options = options;
  }

  has(id: number): boolean {
    return this.#watches.has(id);
  }

  /** Begins a watch, or fails the strategy at the author's line where it passes a bound. */
  begin(
    id: number, specs: readonly FeedSpec[], deliver: (event: MarketEvent) => void, place: () => string | undefined,
  ): void {
    const { places, changed, fail } = this.#options;
    const fault = this.#fault(specs);
    if (fault !== undefined) {
      fail(fault, place());
      return;
    }
    // An event that is on its way when the watch ends is not delivered.
    const source = { emit: (event: unknown) => { if (this.#watches.has(id)) deliver(event as MarketEvent); } };
    const failed = (error: unknown): void => { fail(messageOf(error)); };
    const hosted = specs.map((spec) => hostedFeed(spec, { places, adapt: unchanged, source, fail: failed }));
    this.#watches.set(id, hosted);
    changed(hosted, this.#feeds());
  }

  end(id: number): void {
    const ended = this.#watches.get(id);
    if (ended === undefined) return;
    this.#watches.delete(id);
    this.#options.changed(ended, this.#feeds());
  }

  endAll(): void {
    for (const id of this.#watches.keys()) this.end(id);
  }

  #fault(specs: readonly FeedSpec[]): string | undefined {
    if (specs.some((spec) => originOf(spec) === 'engine'))
      return 'it watches its portfolio with ctx.watch: declare portfolio() among its inputs';
    const { usage, places: { state: { limits: { maxWatches = WATCHES_MAX } }, clock } } = this.#options;
    const count = this.#feeds().length + specs.length;
    if (count > maxWatches)
      return `it watches ${count} feeds at once with ctx.watch, and risk.max_watches allows ${maxWatches}`;
    return specs.map(() => usage.watch(clock.now())).find((fault) => fault !== undefined);
  }

  #feeds(): readonly HostedInput[] {
    return [...this.#watches.values()].flat();
  }
}
