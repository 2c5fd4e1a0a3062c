import type { Bps } from '../../core/amount.ts';
import { mulDiv } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import type { Quote } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import { readingAge } from '../../trading/valuation.ts';
import type { QuoteLadder, Rung } from './quote-ladder.ts';
import { createLadder } from './quote-ladder.ts';

const BPS = 10_000n;

/** The quotes of a direction that are known at a time. */
export interface MarketLadder {
  readonly ladder: QuoteLadder;
  /** Whether they are quotes of the other direction, turned around less a haircut. */
  readonly isOtherSide: boolean;
  readonly rungs: readonly MarketRung[];
}

interface MarketRung extends Rung {
  readonly quote: Quote;
}

/** What was asked of the market, and of when. */
export interface LadderQuestion {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly at: Millis;
  /** How old a quote of a feed may be. */
  readonly maxAgeMs: Millis | ((feed: FeedKey) => Millis);
  readonly otherSideHaircutBps: Bps;
}

/**
 * Returns the ladder of a direction from the last quote of each size that is known at a time, or of the other direction
 * where there is none; 'stale' where all there is, is too old, 'none' where there is nothing.
 */
export function ladderAt(market: MarketCache, question: LadderQuestion): MarketLadder | 'stale' | 'none' {
  const { inputMint, outputMint } = question;
  const direct = rungsOf(market, question, { from: inputMint, to: outputMint, isTurned: false });
  const ladder = createLadder(direct.rungs);
  if (ladder !== undefined) return { ladder, isOtherSide: false, rungs: direct.rungs };
  const reverse = rungsOf(market, question, { from: outputMint, to: inputMint, isTurned: true });
  const turned = createLadder(reverse.rungs);
  if (turned !== undefined) return { ladder: turned, isOtherSide: true, rungs: reverse.rungs };
  return direct.hasStale || reverse.hasStale ? 'stale' : 'none';
}

/** Returns the quote that speaks for a size: of the least rung that covers it, else of the largest. */
export function quoteFor({ rungs }: MarketLadder, size: bigint): Quote {
  let best = rungs[0]!;
  for (const rung of rungs) {
    const isCloser = best.inAmount >= size ? rung.inAmount >= size && rung.inAmount < best.inAmount : rung.inAmount > best.inAmount;
    if (isCloser) best = rung;
  }
  return best.quote;
}

/** Quotes of recordings are read through accessors: each member once here, not at every comparison. */
function rungsOf(market: MarketCache, { at, maxAgeMs, otherSideHaircutBps }: LadderQuestion, { from, to, isTurned }: {
  readonly from: Mint; readonly to: Mint; readonly isTurned: boolean;
}): { readonly rungs: readonly MarketRung[]; readonly hasStale: boolean } {
  const rungs: MarketRung[] = [];
  let hasStale = false;
  for (const slot of market.quoteSlots(from, to)) {
    const quote = market.latest(slot);
    if (quote?.kind !== 'quote') continue;
    if (!(readingAge(quote, at) <= (typeof maxAgeMs === 'number' ? maxAgeMs : maxAgeMs(quote.feed)))) {
      hasStale = true;
      continue;
    }
    const { inAmount, outAmount, contextSlot, router, priceImpact } = quote;
    rungs.push(isTurned
      ? { inAmount: outAmount, outAmount: mulDiv(inAmount, BPS - BigInt(otherSideHaircutBps), BPS, 'floor'), contextSlot, router, priceImpact, quote }
      : { inAmount, outAmount, contextSlot, router, priceImpact, quote });
  }
  return { rungs, hasStale };
}
