import type { Amount } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token, TokenTable } from '../../market/token.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import { valueIn } from '../../trading/valuation.ts';
import { ladderAt } from '../models/market-ladder.ts';
import { isBeyond, largestSize, outputOf } from '../models/quote-ladder.ts';
import type { FeeModel } from '../models/token-fees.ts';
import { reachingMarket, reachingWallet } from '../models/token-fees.ts';

/** What tokens are worth to somebody who has to trade them, by the last prices known, however old. */
export interface ExitMarks {
  /** Returns what a sale would leave in the wallet, as the model has it, less the fees that are taken of tokens; undefined where no price was ever seen. */
  proceeds(mint: Mint, amount: Amount, at: Millis): bigint | undefined;
  /** Returns what the market pays for so much, smallest units of the currency. */
  exit(mint: Mint, amount: bigint, at: Millis): bigint | undefined;
  /** Returns how many times the largest size that is priced an amount is: above 1 its price is a guess; 0 where size plays no part. */
  timesLargest(mint: Mint, amount: bigint, at: Millis): number;
  /** Returns what a purchase for so much of the currency would bring, smallest units. */
  entry(mint: Mint, spent: bigint, at: Millis): bigint | undefined;
}

/** Returns marks by the recorded ladders, so that size costs what it costs; where no quote is recorded, by prices in US dollars. */
export function createExitMarks({ market, tokens, currency, model }: {
  readonly market: MarketCache;
  readonly tokens: TokenTable;
  readonly currency: Token;
  readonly model: FeeModel & Pick<SimulationModel, 'otherSideHaircutBps'>;
}): ExitMarks {
  const lastLadder = (inputMint: Mint, outputMint: Mint, at: Millis): ReturnType<typeof ladderAt> =>
    ladderAt(market, { inputMint, outputMint, at, maxAgeMs: Infinity, otherSideHaircutBps: model.otherSideHaircutBps });
  const swap = (inputMint: Mint, outputMint: Mint, amount: bigint, at: Millis): bigint | undefined => {
    if (amount === 0n) return 0n;
    const found = lastLadder(inputMint, outputMint, at);
    if (typeof found !== 'string') return outputOf(found.ladder, amount);
    return valueIn(market, tokens, { mint: inputMint, amount, currency: outputMint });
  };
  const exit = (mint: Mint, amount: bigint, at: Millis): bigint | undefined => (mint === currency.mint ? amount : swap(mint, currency.mint, amount, at));
  return {
    proceeds: (mint, amount, at) => {
      if (mint === currency.mint) return amount;
      const recorded = exit(mint, reachingMarket(amount, mint, model).traded, at);
      return recorded === undefined ? undefined : reachingWallet(recorded as Amount, currency.mint, model).received;
    },
    exit,
    timesLargest: (mint, amount, at) => {
      const found = lastLadder(mint, currency.mint, at);
      return typeof found === 'string' || !isBeyond(found.ladder, amount) ? 0 : Number(amount) / Number(largestSize(found.ladder));
    },
    entry: (mint, spent, at) => (mint === currency.mint ? spent : swap(currency.mint, mint, spent, at)),
  };
}
