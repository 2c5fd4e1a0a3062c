import type { Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token, TokenTable } from '../../market/token.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import { valueIn } from '../../trading/valuation.ts';
import { ladderAt } from '../models/market-ladder.ts';
import { outputOf } from '../models/quote-ladder.ts';

/** What tokens are worth to somebody who has to trade them, by the last prices known, however old. */
export interface ExitMarks {
  /** Returns what a sale would bring, smallest units of the currency; undefined where no price was ever seen. */
  exit(mint: Mint, amount: bigint, at: Millis): bigint | undefined;
  /** Returns what a purchase for so much of the currency would bring, smallest units. */
  entry(mint: Mint, spent: bigint, at: Millis): bigint | undefined;
}

/** Returns marks by the recorded ladders, so that size costs what it costs; where no quote is recorded, by prices in US dollars. */
export function createExitMarks({ market, tokens, currency, otherSideHaircutBps }: {
  readonly market: MarketCache;
  readonly tokens: TokenTable;
  readonly currency: Token;
  readonly otherSideHaircutBps: Bps;
}): ExitMarks {
  const swap = (inputMint: Mint, outputMint: Mint, amount: bigint, at: Millis): bigint | undefined => {
    if (amount === 0n) return 0n;
    const found = ladderAt(market, { inputMint, outputMint, at, maxAgeMs: Infinity, otherSideHaircutBps });
    if (typeof found !== 'string') return outputOf(found.ladder, amount);
    return valueIn(market, tokens, { mint: inputMint, amount, currency: outputMint });
  };
  return {
    exit: (mint, amount, at) => (mint === currency.mint ? amount : swap(mint, currency.mint, amount, at)),
    entry: (mint, spent, at) => (mint === currency.mint ? spent : swap(currency.mint, mint, spent, at)),
  };
}
