import { GannetError } from '../core/errors.ts';
import type { MarketEventBase } from './event-base.ts';

/**
 * One level: price in millionths of a dollar per contract (0 to 1,000,000) and size in contracts (may be fractional).
 */
export interface BookLevel {
  readonly priceMicroUsd: number;
  readonly size: number;
}

/**
 * A prediction market's resting orders. Both sides are bids: the only asks are the other side's bids seen from here.
 * Levels are in no particular order; read them through the functions below, never by index.
 */
export interface OrderBook extends MarketEventBase {
  readonly kind: 'order-book';
  readonly marketId: string;
  readonly yes: readonly BookLevel[];
  readonly no: readonly BookLevel[];
}

/** The outcome that a side of a book is about. */
export type BookSide = 'yes' | 'no';

/** A contract that pays one dollar. */
export const ONE_USD = 1_000_000;
/** In a book with a wider spread, a fraction of a dollar, the mid is no usable probability. */
export const WIDEST_SPREAD = 0.1;

/**
 * The state of one side of a book; prices in millionths of a dollar, undefined where a side is missing. A crossed book
 * has neither mid nor microprice.
 */
export interface BookTop {
  readonly bestBid: number | undefined;
  readonly bestAsk: number | undefined;
  readonly mid: number | undefined;
  readonly spread: number | undefined;
  /** Size-weighted mid, (bid * askSize + ask * bidSize) / (bidSize + askSize) (Stoikov 2018). */
  readonly microprice: number | undefined;
  /** (bidSize - askSize) / (bidSize + askSize) of the best level: -1 to 1. */
  readonly imbalance: number | undefined;
}

/**
 * Returns the bids of a side, best (highest) price first, with levels of one price summed; a level without size is
 * left out.
 */
export function bids(book: Pick<OrderBook, 'yes' | 'no'>, side: BookSide): BookLevel[] {
  const sizes = new Map<number, number>();
  for (const { priceMicroUsd, size } of book[side]) {
    if (size > 0) sizes.set(priceMicroUsd, (sizes.get(priceMicroUsd) ?? 0) + size);
  }
  return [...sizes].map(([priceMicroUsd, size]) => ({ priceMicroUsd, size }))
    .sort((a, b) => b.priceMicroUsd - a.priceMicroUsd);
}

/** Returns the asks of a side, best (lowest) price first: the other side's bids at one dollar minus their price. */
export function asks(book: Pick<OrderBook, 'yes' | 'no'>, side: BookSide): BookLevel[] {
  const other = bids(book, side === 'yes' ? 'no' : 'yes');
  return other.map(({ priceMicroUsd, size }) => ({ priceMicroUsd: ONE_USD - priceMicroUsd, size }));
}

/** Returns the best prices and the figures derived from them; without a side they are undefined, never 0 or 1. */
export function bookTop(book: Pick<OrderBook, 'yes' | 'no'>, side: BookSide): BookTop {
  const bid = bids(book, side)[0];
  const ask = asks(book, side)[0];
  if (bid === undefined || ask === undefined) {
    return {
      bestBid: bid?.priceMicroUsd, bestAsk: ask?.priceMicroUsd,
      mid: undefined, spread: undefined, microprice: undefined, imbalance: undefined,
    };
  }
  const sizes = bid.size + ask.size;
  const isOrdered = bid.priceMicroUsd <= ask.priceMicroUsd;
  return {
    bestBid: bid.priceMicroUsd,
    bestAsk: ask.priceMicroUsd,
    mid: isOrdered ? (bid.priceMicroUsd + ask.priceMicroUsd) / 2 : undefined,
    spread: ask.priceMicroUsd - bid.priceMicroUsd,
    microprice: isOrdered ? (bid.priceMicroUsd * ask.size + ask.priceMicroUsd * bid.size) / sizes : undefined,
    imbalance: (bid.size - ask.size) / sizes,
  };
}

/**
 * Returns whether the best bids of both sides add up to more than one dollar: stale or broken data, not an opportunity.
 */
export function isCrossed(book: Pick<OrderBook, 'yes' | 'no'>): boolean {
  const top = bookTop(book, 'yes');
  return top.spread !== undefined && top.spread < 0;
}

/** Returns whether neither side has a level. */
export function isEmpty(book: Pick<OrderBook, 'yes' | 'no'>): boolean {
  return bids(book, 'yes').length === 0 && bids(book, 'no').length === 0;
}

/**
 * Returns the implied probability of YES as a fraction, the mid of best bid and ask,
 * or undefined where one side is missing, the book is crossed, or the spread exceeds `maxSpread` (a fraction of a
 * dollar).
 */
export function impliedProbability(book: Pick<OrderBook, 'yes' | 'no'>, maxSpread: number): number | undefined {
  const { mid, spread } = bookTop(book, 'yes');
  if (mid === undefined || spread === undefined || spread < 0 || spread / ONE_USD > maxSpread) return undefined;
  return mid / ONE_USD;
}

/** The probabilities of YES at which the market neither sells nor buys, as fractions. */
export interface ProbabilityInterval {
  /** The best bid. */
  readonly lower: number;
  /** The best ask. */
  readonly upper: number;
}

/**
 * Returns the interval from best bid to best ask of YES, which says what the market knows more honestly than its mid;
 * undefined where one side is missing or the book is crossed.
 */
export function probabilityInterval(book: Pick<OrderBook, 'yes' | 'no'>): ProbabilityInterval | undefined {
  const { bestBid, bestAsk, mid } = bookTop(book, 'yes');
  if (bestBid === undefined || bestAsk === undefined || mid === undefined) return undefined;
  return { lower: bestBid / ONE_USD, upper: bestAsk / ONE_USD };
}

/** The contracts that are bid for and asked for near the best prices of a side. */
export interface BookDepth {
  readonly bid: number;
  readonly ask: number;
}

/**
 * Returns the contracts of the levels at most `within` (a fraction of a dollar) from the best price of their side, so
 * that large orders far away count for nothing. A missing side has 0.
 */
export function depthWithin(book: Pick<OrderBook, 'yes' | 'no'>, side: BookSide, within: number): BookDepth {
  return { bid: depthOf(bids(book, side), within), ask: depthOf(asks(book, side), within) };
}

/**
 * Returns (bid depth - ask depth) / (bid depth + ask depth), -1 to 1, of the levels at most `within` (a fraction of a
 * dollar) from the best price of their side. It is undefined where one side is missing or the book is crossed.
 */
export function depthImbalance(
  book: Pick<OrderBook, 'yes' | 'no'>, side: BookSide, within: number,
): number | undefined {
  const { bid, ask } = depthWithin(book, side, within);
  return bid === 0 || ask === 0 || isCrossed(book) ? undefined : (bid - ask) / (bid + ask);
}

function depthOf(levels: readonly BookLevel[], within: number): number {
  const [best] = levels;
  if (best === undefined) return 0;
  const reach = Math.round(within * ONE_USD);
  return levels.filter(({ priceMicroUsd }) => Math.abs(priceMicroUsd - best.priceMicroUsd) <= reach)
    .reduce((sum, { size }) => sum + size, 0);
}

/** The relative error of sums of sizes. */
const ROUNDING = 1e-12;

/** What an order for some contracts would cost at once, or bring in; in millionths of a dollar, without fees. */
export interface FillCost {
  readonly totalMicroUsd: number;
  /** Of one contract. */
  readonly averageMicroUsd: number;
  /** The price of the last level that it reaches. */
  readonly worstMicroUsd: number;
}

/**
 * Returns what buying (by default) or selling a number of contracts of a side costs against the resting orders;
 * undefined where they do not suffice, and of a crossed book. Throws AMOUNT_INVALID unless `contracts` is above 0.
 */
export function costToFill(
  book: Pick<OrderBook, 'yes' | 'no'>, side: BookSide, contracts: number, direction: 'buy' | 'sell' = 'buy',
): FillCost | undefined {
  if (!(Number.isFinite(contracts) && contracts > 0))
    throw new GannetError('AMOUNT_INVALID', `expected a number of contracts above 0, got ${contracts}`);
  if (isCrossed(book)) return undefined;
  let missing = contracts;
  let totalMicroUsd = 0;
  for (const { priceMicroUsd, size } of direction === 'buy' ? asks(book, side) : bids(book, side)) {
    const taken = Math.min(missing, size);
    totalMicroUsd += taken * priceMicroUsd;
    missing -= taken;
    // Sizes may be fractional: what their rounding leaves is no contract.
    if (missing <= contracts * ROUNDING)
      return { totalMicroUsd, averageMicroUsd: totalMicroUsd / contracts, worstMicroUsd: priceMicroUsd };
  }
  return undefined;
}
