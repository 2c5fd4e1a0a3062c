import type { Millis } from '../../core/time.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { Mint } from '../../market/token.ts';
import type { FeedSlot, MarketCache } from '../../trading/market-cache.ts';
import { ladderAt } from './market-ladder.ts';

/** The ladder of a direction from the last known quotes of any age; a text where there is none. */
type LastLadder = ReturnType<typeof ladderAt>;

interface Remembered {
  /** The slots of the quotes of both directions; the market has a new list for each new slot. */
  readonly direct: readonly FeedSlot[];
  readonly reverse: readonly FeedSlot[];
  readonly quotes: readonly (MarketEvent | undefined)[];
  readonly found: LastLadder;
}

/**
 * Returns a look-up of the last ladders of a market. Equity is valued every second and quotes arrive less often: a
 * ladder is made again only after a quote of its two tokens.
 */
export function rememberLadders(
  market: MarketCache, { otherSideHaircutBps }: Pick<Parameters<typeof ladderAt>[1], 'otherSideHaircutBps'>,
): (inputMint: Mint, outputMint: Mint, at: Millis) => LastLadder {
  const known = new Map<Mint, Map<Mint, Remembered>>();
  const isCurrent = ({ direct, reverse, quotes }: Remembered): boolean => {
    for (let i = 0; i < direct.length; i++) if (market.latest(direct[i]!) !== quotes[i]) return false;
    for (let i = 0; i < reverse.length; i++) if (market.latest(reverse[i]!) !== quotes[direct.length + i]) return false;
    return true;
  };
  return (inputMint, outputMint, at) => {
    const direct = market.quoteSlots(inputMint, outputMint);
    const reverse = market.quoteSlots(outputMint, inputMint);
    const ofInput = known.get(inputMint) ?? new Map<Mint, Remembered>();
    const before = ofInput.get(outputMint);
    if (before !== undefined && before.direct === direct && before.reverse === reverse && isCurrent(before))
      return before.found;
    const found = ladderAt(market, { inputMint, outputMint, at, maxAgeMs: Infinity, otherSideHaircutBps });
    const quotes = [...direct, ...reverse].map((slot) => market.latest(slot));
    known.set(inputMint, ofInput.set(outputMint, { direct, reverse, quotes, found }));
    return found;
  };
}
