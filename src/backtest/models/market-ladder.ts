import type { Bps } from '../../core/amount.ts';
import { mulDiv } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import type { Quote } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import type { RecordedSwap } from '../../trading/simulation-model.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import { readingAge } from '../../trading/valuation.ts';
import type { QuoteLadder, Rung } from './quote-ladder.ts';
import { createLadder } from './quote-ladder.ts';

const BPS = 10_000n;

/** The known quotes of a direction at a time. */
export interface MarketLadder {
  readonly ladder: QuoteLadder;
  /** Whether they are quotes of the other direction, inverted, less a haircut. */
  readonly isOtherSide: boolean;
  readonly rungs: readonly MarketRung[];
}

interface MarketRung extends Rung {
  readonly quote: Quote;
}

/** A question for the quotes of a direction. */
interface LadderQuestion {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly at: Millis;
  /** The greatest age of a quote of a feed. */
  readonly maxAgeMs: Millis | ((feed: FeedKey) => Millis);
  readonly otherSideHaircutBps: Bps;
  /** Returns the last quote of a size that the recorded run had accepted by then for a swap of its own. */
  readonly accepted?: ((inAmount: bigint) => AcceptedQuote | undefined) | undefined;
}

/** A quote that is known only from a swap. */
type AcceptedQuote = NonNullable<RecordedSwap['accepted']>;

/**
 * Returns the ladder of a direction from the last known quote of each size, or of the other direction where there is
 * none; 'stale' where all quotes are too old, 'none' without a quote.
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

/** Returns the quote that prices a size: of the smallest rung that covers it, else of the largest rung. */
export function quoteFor({ rungs }: MarketLadder, size: bigint): Quote {
  let best = rungs[0]!;
  for (const rung of rungs) {
    const isCloser = best.inAmount >= size ? rung.inAmount >= size && rung.inAmount < best.inAmount
      : rung.inAmount > best.inAmount;
    if (isCloser) best = rung;
  }
  return best.quote;
}

/** Quotes of recordings are read through accessors: each member is read once, not at every comparison. */
function rungsOf(market: MarketCache, { at, maxAgeMs, otherSideHaircutBps, accepted }: LadderQuestion,
  { from, to, isTurned }: {
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
    const { inAmount, outAmount, contextSlot, router, priceImpact, receivedAt, feeBps } = quote;
    const later = isTurned ? undefined : accepted?.(inAmount);
    if (later !== undefined && later.at > receivedAt)
      rungs.push({ inAmount, outAmount: later.outAmount, router, priceImpact, feeBps, quote });
    else rungs.push(isTurned
      ? {
        inAmount: outAmount, outAmount: mulDiv(inAmount, BPS - BigInt(otherSideHaircutBps), BPS, 'floor'), contextSlot,
        router, priceImpact, feeBps, quote,
      }
      : { inAmount, outAmount, contextSlot, router, priceImpact, feeBps, quote });
  }
  return { rungs, hasStale };
}

/**
 * The quotes that the recorded run accepted for its own swaps: between two polls of a feed they are the only prices.
 */
interface AcceptedQuotes {
  /**
   * Returns a search for the last quote of a size in a direction that was signed by an instant; undefined where there
   * is none. Instants may not decrease.
   */
  by(inputMint: Mint, outputMint: Mint, at: Millis): LadderQuestion['accepted'];
}

/** Returns the quotes that recorded swaps accepted. Each is known from the signature of its swap on. */
export function createAcceptedQuotes(swaps: readonly RecordedSwap[] = []): AcceptedQuotes {
  const signed = swaps.flatMap(({ accepted, ...swap }) => (accepted === undefined ? [] : [{ ...swap, accepted }]))
    .toSorted((a, b) => a.accepted.at - b.accepted.at);
  const known = new Map<string, Map<bigint, AcceptedQuote>>();
  let next = 0;
  return {
    by(inputMint, outputMint, at) {
      for (let swap = signed[next]; swap !== undefined && swap.accepted.at <= at; swap = signed[next]) {
        next += 1;
        const key = `${swap.inputMint} ${swap.outputMint}`;
        const sizes = known.get(key) ?? new Map<bigint, AcceptedQuote>();
        known.set(key, sizes);
        sizes.set(swap.inAmount, swap.accepted);
      }
      const sizes = known.get(`${inputMint} ${outputMint}`);
      return sizes === undefined ? undefined : (inAmount) => sizes.get(inAmount);
    },
  };
}
