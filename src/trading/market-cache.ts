import type { FeedKey, MarketEvent } from '../market/event.ts';
import type { Quote } from '../market/quote.ts';
import type { TokenRecordEvent } from '../market/token-record.ts';
import type { TokenStats } from '../market/token-stats.ts';
import type { Mint } from '../market/token.ts';

/** The number of a feed within one run: its place in every per-feed array. */
export type FeedSlot = number;

const NONE: readonly FeedSlot[] = [];

/**
 * The latest event of every feed. It is filled before the strategies see the event (cache, then publish),
 * so strategies and risk read the same data.
 */
export class MarketCache {
  readonly #slots = new Map<FeedKey, FeedSlot>();
  readonly #latest: (MarketEvent | undefined)[] = [];
  /** Slots of quote feeds by input and output, so that a valuation finds its pair without a search or a new name. */
  readonly #quoteSlots = new Map<Mint, Map<Mint, FeedSlot[]>>();
  /** Slots of statistics and records by token, for the same reason. */
  readonly #statsSlots = new Map<Mint, FeedSlot[]>();
  readonly #mints = new Set<Mint>();
  /** The feed that was looked up last: events come in runs, and comparing one name is cheaper than hashing it. */
  #lastFeed: FeedKey | undefined;
  #lastSlot: FeedSlot = 0;
  #revision = 0;

  /** Returns the slot of a feed, a new one for a new key. */
  slotOf(feed: FeedKey): FeedSlot {
    if (feed === this.#lastFeed) return this.#lastSlot;
    let slot = this.#slots.get(feed);
    if (slot === undefined) {
      slot = this.#latest.length;
      this.#slots.set(feed, slot);
      this.#latest.push(undefined);
    }
    this.#lastFeed = feed;
    this.#lastSlot = slot;
    return slot;
  }

  /** The number of events that were kept: while it stays, so do all latest events. */
  get revision(): number {
    return this.#revision;
  }

  /** The slot that was looked up last: right after an event was observed, its own. */
  get lastSlot(): FeedSlot {
    return this.#lastSlot;
  }

  /** Keeps an event as the latest of its feed and returns the feed's slot. Health reports are not kept. */
  observe(event: MarketEvent): FeedSlot {
    const slot = this.slotOf(event.feed);
    if (event.kind === 'feed-health') return slot;
    if (this.#latest[slot] === undefined) this.#index(event, slot);
    this.#latest[slot] = event;
    this.#revision += 1;
    return slot;
  }

  /** Returns the latest event of a slot. */
  latest(slot: FeedSlot): MarketEvent | undefined {
    return this.#latest[slot];
  }

  /** Returns the most recently received quote from one mint to another. */
  latestQuote(inputMint: Mint, outputMint: Mint): Quote | undefined {
    let newest: Quote | undefined;
    for (const slot of this.quoteSlots(inputMint, outputMint)) {
      const event = this.#latest[slot];
      if (event?.kind === 'quote' && (newest === undefined || event.receivedAt > newest.receivedAt)) newest = event;
    }
    return newest;
  }

  /** Returns the slots of the quotes from one mint to another. */
  quoteSlots(inputMint: Mint, outputMint: Mint): readonly FeedSlot[] {
    return this.#quoteSlots.get(inputMint)?.get(outputMint) ?? NONE;
  }

  /** Returns the pairs that were ever quoted, as input and output. */
  quotedPairs(): readonly (readonly [Mint, Mint])[] {
    return [...this.#quoteSlots].flatMap(([input, outputs]) =>
      [...outputs.keys()].map((output) => [input, output] as const));
  }

  /** Returns the tokens of which statistics or a record were ever read. */
  tokensWithStats(): readonly Mint[] {
    return [...this.#statsSlots.keys()];
  }

  /** Returns the slots of a token's statistics and of its record, where they are watched. */
  statsSlots(mint: Mint): readonly FeedSlot[] {
    return this.#statsSlots.get(mint) ?? NONE;
  }

  /** Returns whether any event was ever about a token; without one it has no price. */
  hasSeen(mint: Mint): boolean {
    return this.#mints.has(mint);
  }

  #index(event: MarketEvent, slot: FeedSlot): void {
    // Keeps the event's own string: comparing a string with itself is instant, comparing equal copies is not.
    this.#lastFeed = event.feed;
    if (event.kind === 'quote') this.#indexQuote(event, slot);
    else if (event.kind === 'token-stats' || event.kind === 'token-record') this.#indexStats(event, slot);
  }

  #indexStats({ mint }: TokenStats | TokenRecordEvent, slot: FeedSlot): void {
    this.#statsSlots.set(mint, [...(this.#statsSlots.get(mint) ?? []), slot]);
    this.#mints.add(mint);
  }

  #indexQuote({ inputMint, outputMint }: Quote, slot: FeedSlot): void {
    const outputs = this.#quoteSlots.get(inputMint) ?? new Map<Mint, FeedSlot[]>();
    this.#quoteSlots.set(inputMint, outputs);
    outputs.set(outputMint, [...(outputs.get(outputMint) ?? []), slot]);
    this.#mints.add(inputMint).add(outputMint);
  }
}
