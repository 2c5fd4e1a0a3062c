import type { Amount } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import type { Quote } from '../market/quote.ts';
import type { Mint, TokenTable } from '../market/token.ts';

/** The number of a feed within one run: its place in every per-feed array. */
export type FeedSlot = number;

/**
 * The latest event of every feed. It is filled before the strategies see the event (cache, then publish),
 * so what they read and what risk reads is the same.
 */
export class MarketCache {
  readonly #slots = new Map<FeedKey, FeedSlot>();
  readonly #latest: (MarketEvent | undefined)[] = [];
  /** Slots of quote feeds by `input:output`, so that a valuation finds its pair without a search. */
  readonly #quoteSlots = new Map<string, FeedSlot[]>();
  /** The feed looked up last: events come in runs, and comparing one name is cheaper than hashing it. */
  #lastFeed: FeedKey | undefined;
  #lastSlot: FeedSlot = 0;

  /** Returns the slot of a feed, a new one for a key not met before. */
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

  /** Keeps an event as the latest of its feed and returns the feed's slot. Health reports say nothing of the market. */
  observe(event: MarketEvent): FeedSlot {
    const slot = this.slotOf(event.feed);
    if (event.kind === 'feed-health') return slot;
    if (event.kind === 'quote' && this.#latest[slot] === undefined) this.#indexQuote(event, slot);
    this.#latest[slot] = event;
    return slot;
  }

  /** Returns the latest event of a slot. */
  latest(slot: FeedSlot): MarketEvent | undefined {
    return this.#latest[slot];
  }

  /** Returns the most recently received quote from one mint to another. */
  latestQuote(inputMint: Mint, outputMint: Mint): Quote | undefined {
    let newest: Quote | undefined;
    for (const slot of this.#quoteSlots.get(`${inputMint}:${outputMint}`) ?? []) {
      const event = this.#latest[slot];
      if (event?.kind === 'quote' && (newest === undefined || event.receivedAt > newest.receivedAt)) newest = event;
    }
    return newest;
  }

  /** Returns the last US dollar price of a token, where its statistics are watched. */
  usdPrice(mint: Mint): number | undefined {
    const slot = this.#slots.get(`token-stats:${mint}`);
    const event = slot === undefined ? undefined : this.#latest[slot];
    return event?.kind === 'token-stats' ? event.values.usdPrice : undefined;
  }

  #indexQuote(quote: Quote, slot: FeedSlot): void {
    const pair = `${quote.inputMint}:${quote.outputMint}`;
    const slots = this.#quoteSlots.get(pair);
    if (slots === undefined) this.#quoteSlots.set(pair, [slot]);
    else slots.push(slot);
  }
}

/**
 * Returns what an amount is worth in smallest units of another token, floored: by a quote from it, by a quote to it,
 * or by both tokens' US dollar prices, in this order; undefined where none is known, so that limits fail closed.
 * A quote of nothing is no price: it would make everything worth nothing, and so within every limit.
 */
export function valueIn(
  market: MarketCache, tokens: TokenTable,
  of: { readonly mint: Mint; readonly amount: bigint; readonly currency: Mint },
): Amount | undefined {
  if (of.mint === of.currency) return of.amount as Amount;
  const selling = market.latestQuote(of.mint, of.currency);
  if (selling !== undefined && selling.inAmount > 0n && selling.outAmount > 0n) return mulDiv(of.amount as Amount, selling.outAmount, selling.inAmount, 'floor');
  const buying = market.latestQuote(of.currency, of.mint);
  if (buying !== undefined && buying.outAmount > 0n) return mulDiv(of.amount as Amount, buying.inAmount, buying.outAmount, 'floor');
  return valueByUsd(market, tokens, of);
}

function valueByUsd(
  market: MarketCache, tokens: TokenTable,
  of: { readonly mint: Mint; readonly amount: bigint; readonly currency: Mint },
): Amount | undefined {
  const from = tokens.byMint(of.mint);
  const to = tokens.byMint(of.currency);
  const fromUsd = market.usdPrice(of.mint);
  const toUsd = market.usdPrice(of.currency);
  if (!from || !to || !fromUsd || !toUsd || !Number.isFinite(toUsd)) return undefined;
  const value = (Number(of.amount) * fromUsd * 10 ** (to.decimals - from.decimals)) / toUsd;
  return Number.isFinite(value) && value >= 0 ? (BigInt(Math.floor(value)) as Amount) : undefined;
}
