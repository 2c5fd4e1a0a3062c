import type { Amount, Bps } from '../../src/core/amount.ts';
import { mulDiv } from '../../src/core/amount.ts';
import type { FeedHealth } from '../../src/market/event.ts';
import type { BookLevel, OrderBook } from '../../src/market/order-book.ts';
import type { Quote } from '../../src/market/quote.ts';
import { rateOf } from '../../src/market/quote.ts';
import type { Token } from '../../src/market/token.ts';
import type { TokenRecordEvent } from '../../src/market/token-record.ts';
import type { TokenStats } from '../../src/market/token-stats.ts';
import { SOL, USDC } from './tokens.ts';

/**
 * Returns a quote of `inAmount` smallest units of one token for `outAmount` of another, on the feed of that question.
 */
export function quote(from: Token, to: Token, { inAmount, outAmount, at = 0, priceImpact = 0 }: {
  readonly inAmount: bigint; readonly outAmount: bigint; readonly at?: number;
  readonly priceImpact?: number | undefined;
}): Quote {
  return {
    kind: 'quote',
    feed: `quote:${from.mint}:${to.mint}:${inAmount}`,
    receivedAt: at,
    inputMint: from.mint,
    outputMint: to.mint,
    inAmount: inAmount as Amount,
    outAmount: outAmount as Amount,
    threshold: outAmount as Amount,
    priceImpact,
    router: 'iris',
    feeBps: 0 as Bps,
    rate: rateOf(inAmount, outAmount),
  };
}

/** 25 USDC in smallest units: what one purchase of the strategies under test costs. */
export const PURCHASE = 25_000_000n;

/** Returns a quote for buying SOL with 25 USDC at a price in thousandths of a dollar. */
export function buyingSol(milliUsd: number, at: number): Quote {
  const outAmount = mulDiv(PURCHASE, 1_000_000_000n * 1_000n, BigInt(milliUsd) * 1_000_000n, 'floor');
  return quote(USDC, SOL, { inAmount: PURCHASE, outAmount, at });
}

/** Returns a quote for selling one SOL at a price in thousandths of a dollar. */
export function sellingSol(milliUsd: number, at: number): Quote {
  return quote(SOL, USDC, { inAmount: 1_000_000_000n, outAmount: BigInt(milliUsd) * 1_000n, at });
}

/** Returns a book of levels given as [price in cents, size]. */
export function book(
  yes: readonly (readonly [number, number])[], no: readonly (readonly [number, number])[], at = 0,
): OrderBook {
  return {
    kind: 'order-book', feed: 'order-book:M', receivedAt: at, marketId: 'M', yes: yes.map(level), no: no.map(level),
  };
}

function level([cents, size]: readonly [number, number]): BookLevel {
  return { priceMicroUsd: Math.round(cents * 10_000), size };
}

export function stats(token: Token, usdPrice: number | undefined, at = 0): TokenStats {
  return {
    kind: 'token-stats', feed: `token-stats:${token.mint}`, receivedAt: at, mint: token.mint,
    values: usdPrice === undefined ? {} : { usdPrice },
  };
}

export function record(token: Token, usdPrice: number | undefined, at = 0): TokenRecordEvent {
  return {
    kind: 'token-record', feed: `token-record:${token.mint}`, receivedAt: at, mint: token.mint,
    record: {
      id: token.mint, symbol: token.symbol, name: token.symbol, decimals: token.decimals, audit: {}, tags: [],
      values: usdPrice === undefined ? {} : { usdPrice },
    },
  };
}

export function trouble(feed: string, at = 0): FeedHealth {
  return { kind: 'feed-health', feed, receivedAt: at, status: 'down', code: 'SERVICE_TIMEOUT', consecutiveFailures: 3 };
}
