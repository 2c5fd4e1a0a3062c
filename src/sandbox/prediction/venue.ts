import type { Episodes } from '../market/episodes.ts';
import { DOLLAR, type BestBids, type BookAnswer, type PredictionBook } from '../market/prediction-market.ts';
import { SLOTS_PER_DAY } from '../market/slot-counts.ts';
import type { Listing, Timeline } from './catalogue.ts';
import type { Outcome } from './event-plans.ts';

/** The state of a market at a slot. A resolved market stays closed; `result` is its outcome. */
interface MarketState {
  readonly status: 'open' | 'closed' | 'cancelled';
  readonly result: 'yes' | 'no' | null;
  /** When it was resolved or cancelled. */
  readonly resolvedSlot: number | undefined;
}

/** The prices at a slot, in micro US dollars for one contract; 0 where there is no offer. */
interface Pricing {
  readonly buyYesPriceUsd: number;
  readonly buyNoPriceUsd: number;
  readonly sellYesPriceUsd: number;
  readonly sellNoPriceUsd: number;
}

/** Where the markets are traded: their state, their books and their prices at any slot. */
export interface Venue {
  state(listing: Listing, slot: number): MarketState;
  book(listing: Listing, slot: number): BookAnswer;
  /** Returns the best bids of an open market; none of another. */
  bestBids(listing: Listing, slot: number): BestBids;
  pricing(listing: Listing, slot: number): Pricing;
  probability(listing: Listing, slot: number): number;
  /** Returns the US dollars traded so far. */
  volumeUsd(listing: Listing, slot: number): number;
  /** Replaces the market's own book by the operator's. */
  setBook(marketId: string, book: PredictionBook | null): void;
  /** Gives a market its own book back, or all of them. */
  releaseBooks(marketId?: string): void;
  readonly bookedMarkets: readonly string[];
  /** Resolves a market at `slot`; returns false, and changes nothing, when it was resolved already. */
  resolve(listing: Listing, verdict: { outcome: Outcome; slot: number }): boolean;
}

export const MICRO_USD_PER_PRICE = 100;
const ONE_USD = 1_000_000;
const NO_BIDS: BestBids = { yes: undefined, no: undefined };
/** The last part of a market's time, in which its price moves to its outcome. */
const LEAN_SHARE = 0.2;
const MOST_LEAN = 5;

/** Returns the venue of all markets, without decisions of the operator. */
export function createVenue(timeline: Timeline, episodes?: Pick<Episodes, 'book'>): Venue {
  const verdicts = new Map<string, { outcome: Outcome; slot: number }>();
  const books = new Map<string, PredictionBook | null>();

  const state: Venue['state'] = (listing, slot) => {
    const verdict = verdicts.get(listing.marketId) ?? { outcome: listing.outcome, slot: listing.resolveSlot };
    if (slot < verdict.slot)
      return { status: slot < listing.haltSlot ? 'open' : 'closed', result: null, resolvedSlot: undefined };
    if (verdict.outcome === 'cancelled') return { status: 'cancelled', result: null, resolvedSlot: verdict.slot };
    return { status: 'closed', result: verdict.outcome, resolvedSlot: verdict.slot };
  };

  const lean = (listing: Listing, slot: number): number => {
    // Lasting markets end by the calendar, not by slots.
    if (listing.event.isLasting) return 0;
    // A market at speed 0 does not lean either, except before the start.
    const at = timeline.moves ? slot : Math.min(slot, 0);
    const share = ((at - listing.openSlot) / (listing.haltSlot - listing.openSlot) - (1 - LEAN_SHARE)) / LEAN_SHARE;
    if (share <= 0 || listing.outcome === 'cancelled') return 0;
    return (listing.outcome === 'yes' ? MOST_LEAN : -MOST_LEAN) * Math.min(share, 1) ** 2;
  };

  const bestBids: Venue['bestBids'] = (listing, slot) => {
    if (state(listing, slot).status !== 'open') return NO_BIDS;
    const own = books.get(listing.marketId);
    if (own === undefined) return listing.prices.bestBids(timeline.step(slot), lean(listing, slot));
    return { yes: highest(own?.yes), no: highest(own?.no) };
  };

  return {
    state,
    bestBids,
    book(listing, slot) {
      const own = books.get(listing.marketId);
      if (own !== undefined) return own;
      if (state(listing, slot).status !== 'open') return { yes: [], no: [] };
      const book = listing.prices.book(timeline.step(slot), lean(listing, slot));
      return book === null || book === 'unreachable' ? book : episodes?.book(listing.marketId, book, slot) ?? book;
    },
    pricing(listing, slot) {
      const { yes, no } = bestBids(listing, slot);
      return { buyYesPriceUsd: ask(no), buyNoPriceUsd: ask(yes), sellYesPriceUsd: bid(yes), sellNoPriceUsd: bid(no) };
    },
    probability: (listing, slot) => listing.prices.probability(timeline.step(slot), lean(listing, slot)),
    volumeUsd(listing, slot) {
      const days = (Math.min(slot, listing.haltSlot) - listing.openSlot) / SLOTS_PER_DAY;
      const { volumeUsdPerDay, markets } = listing.event.plan;
      return Math.floor((volumeUsdPerDay / markets.length) * days);
    },
    setBook: (marketId, book) => void books.set(marketId, book),
    releaseBooks: (marketId) => (marketId === undefined ? books.clear() : void books.delete(marketId)),
    get bookedMarkets() {
      return [...books.keys()];
    },
    resolve(listing, verdict) {
      if (state(listing, verdict.slot).resolvedSlot !== undefined) return false;
      verdicts.set(listing.marketId, verdict);
      return true;
    },
  };
}

/** YES is bought from bids for NO, and the other way round: the price is one dollar less the bid. */
function ask(otherBid: number | undefined): number {
  return otherBid === undefined || otherBid >= DOLLAR ? 0 : ONE_USD - otherBid * MICRO_USD_PER_PRICE;
}

function bid(price: number | undefined): number {
  return (price ?? 0) * MICRO_USD_PER_PRICE;
}

function highest(levels: PredictionBook['yes'] | undefined): number | undefined {
  return levels === undefined || levels.length === 0 ? undefined : Math.max(...levels.map(({ price }) => price));
}
