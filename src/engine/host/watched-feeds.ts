import { messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey, originOf } from '../../market/feed.ts';
import type { FeedOrigin } from '../../market/feeds/feed-kind.ts';
import type { SampleWindows } from '../../market/sample-windows.ts';
import { isFinerThan, restartSampling } from '../../market/sample-windows.ts';
import type { Input, TakesPrice } from '../../strategy/input.ts';
import { assembling } from '../../strategy/input.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { FeedSlot } from '../../trading/market-cache.ts';
import type { HotSource } from '../hot-source.ts';

/** How many feeds a strategy may watch at once beside its inputs, in runs from before there was a limit. */
const WATCHES_MAX = 20;

/** Where the events of an input go. */
interface HostedSource {
  emit(value: unknown): void;
  /** What takes prices of quotes that lead to nothing; undefined where every quote must be emitted. */
  readonly taker?: { readonly takesPrice: TakesPrice } | undefined;
}

/** A feed of an input with the stream that it feeds. */
export interface HostedInput {
  readonly spec: FeedSpec;
  readonly feed: FeedKey;
  readonly slot: FeedSlot;
  /** What makes its events. */
  readonly origin: FeedOrigin;
  readonly adapt: (event: MarketEvent) => unknown;
  readonly source: HostedSource;
  /** Returns the price of a quote's rate, where `source` takes prices. */
  readonly priceOf?: ((rate: number) => number) | undefined;
  /** Undefined where it sees every event. A watch of the same feed may change that. */
  windows: SampleWindows | undefined;
  /** Takes an error of `adapt`, which is a fault of this strategy alone. */
  readonly fail: (error: unknown) => void;
}

/** The part of the engine in which feeds have their slots and intervals. */
interface FeedPlaces {
  readonly state: Pick<EngineState, 'market' | 'limits'>;
  /** The interval of each feed's events, where inputs are sampled. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
}

/** Returns the entry of one feed of an input. */
export function hostedFeed(spec: FeedSpec, { places, adapt, source, fail, priceOf }: {
  readonly places: FeedPlaces;
} & Pick<HostedInput, 'adapt' | 'source' | 'fail' | 'priceOf'>): HostedInput {
  const feed = feedKey(spec);
  return {
    spec, feed, adapt, source, fail, priceOf,
    origin: originOf(spec),
    windows: isFinerThan(places.intervals?.get(feed), spec) ? { everyMs: spec.everyMs, window: -Infinity } : undefined,
    slot: places.state.market.slotOf(feed),
  };
}

/** Makes the next event of each input a sample. */
export function restartAll(inputs: readonly HostedInput[]): void {
  for (const { windows } of inputs) if (windows !== undefined) restartSampling(windows);
}

/** Lets inputs of another version go on within the windows of samples of the old one, where it had the same inputs. */
export function continueWindows(
  inputs: readonly HostedInput[], old: readonly Pick<HostedInput, 'feed' | 'spec' | 'windows'>[],
): void {
  for (const input of inputs) {
    const before = old.find(({ feed, spec }) => feed === input.feed && spec.everyMs === input.spec.everyMs);
    if (before !== undefined) input.windows = before.windows === undefined ? undefined : { ...before.windows };
  }
}

/** Returns how the events of an input reach its stream: most are converted one by one, without a further call. */
export function streamOf(
  { adapt, assemble }: Input<unknown>, stream: HotSource<unknown>,
): Pick<HostedInput, 'adapt' | 'source' | 'priceOf'> {
  if (assemble === undefined) return { adapt, source: stream, priceOf: adapt.priceOf };
  const assembler = assemble();
  const deliver = assembling(assembler, (value) => { stream.emit(value); });
  const { takesPrice, priceOf } = assembler;
  return {
    adapt: unchanged, priceOf,
    source: {
      emit: (event) => { deliver(event as MarketEvent); },
      taker: takesPrice === undefined ? undefined : { takesPrice },
    },
  };
}

/** Returns the event itself, for a strategy that adapts it on its own side. */
export function unchanged(event: MarketEvent): unknown {
  return event;
}

interface WatchedFeedsOptions {
  readonly places: FeedPlaces;
  /** Counts the begin of a watch of one feed, and returns the bound that was passed, if any. */
  readonly countFeed: () => string | undefined;
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
    changed(hosted, this.feeds());
  }

  end(id: number): void {
    const ended = this.#watches.get(id);
    if (ended === undefined) return;
    this.#watches.delete(id);
    this.#options.changed(ended, this.feeds());
  }

  endAll(): void {
    for (const id of this.#watches.keys()) this.end(id);
  }

  /** Returns the feeds of all watches. */
  feeds(): readonly HostedInput[] {
    return [...this.#watches.values()].flat();
  }

  #fault(specs: readonly FeedSpec[]): string | undefined {
    if (specs.some((spec) => originOf(spec) === 'engine'))
      return 'it watches its portfolio with ctx.watch: declare portfolio() among its inputs';
    const { countFeed, places: { state: { limits: { maxWatches = WATCHES_MAX } } } } = this.#options;
    const count = this.feeds().length + specs.length;
    if (count > maxWatches)
      return `it watches ${count} feeds at once with ctx.watch, and risk.max_watches allows ${maxWatches}`;
    return specs.map(countFeed).find((fault) => fault !== undefined);
  }
}
