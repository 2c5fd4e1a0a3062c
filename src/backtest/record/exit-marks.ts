import type { Amount, Bps } from '../../core/amount.ts';
import { afterSlippage } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token, TokenTable } from '../../market/token.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import { valueIn } from '../../trading/valuation.ts';
import { isFirm } from '../models/landing.ts';
import { quoteFor } from '../models/market-ladder.ts';
import type { QuoteLadder } from '../models/quote-ladder.ts';
import { isBeyond, largestSize, outputOf } from '../models/quote-ladder.ts';
import { rememberLadders } from '../models/remembered-ladders.ts';
import { SETTINGS } from '../models/settings.ts';
import type { FeeModel } from '../models/swap-costs.ts';
import { reachingMarket, reachingWallet } from '../models/swap-costs.ts';

const NOTHING = 0 as Bps;

/** The value of tokens for a trader, by the last known prices of any age. */
export interface ExitMarks {
  /**
   * Returns the proceeds of a sale as the model's setting fills it: as quoted, at the price on arrival, or at the
   * minimum under `allowedBps` of slippage, less the fees on tokens. Undefined where no price was ever known.
   */
  proceeds(mint: Mint, amount: Amount, at: Millis, allowedBps: Bps): bigint | undefined;
  /** Returns what the market pays for an amount, smallest units of the currency. */
  exit(mint: Mint, amount: bigint, at: Millis): bigint | undefined;
  /**
   * Returns an amount divided by the largest priced size; 0 where it is not larger, or where prices do not depend on
   * size.
   */
  timesLargest(mint: Mint, amount: bigint, at: Millis): number;
  /** Returns whether a price of a token comes only from quotes of the other direction, inverted, less the haircut. */
  isTurned(mint: Mint, at: Millis): boolean;
  /**
   * Returns the prices of a purchase for `spent` of the currency and of the sale after it, in smallest units of the
   * currency per smallest unit of the token. Above the largest recorded size both are the price of that size, since
   * prices beyond it are estimates. Undefined where no price was ever known.
   */
  bothWays(mint: Mint, spent: bigint, at: Millis): { readonly ask: number; readonly bid: number } | undefined;
}

/**
 * Returns the output of an amount above every quote at the price of the largest size: extrapolation would be arbitrary.
 */
function outputInPieces(ladder: QuoteLadder, amount: bigint): bigint {
  const largest = largestSize(ladder);
  return isBeyond(ladder, amount) && largest > 0n ? (outputOf(ladder, largest) * amount) / largest
    : outputOf(ladder, amount);
}

/**
 * Returns marks by the recorded ladders, which contain the cost of size, or by prices in US dollars where no quote is
 * recorded.
 */
export function createExitMarks({ market, tokens, currency, model }: {
  readonly market: MarketCache;
  readonly tokens: TokenTable;
  readonly currency: Token;
  readonly model: FeeModel & Pick<SimulationModel, 'landing' | 'otherSideHaircutBps' | 'setting'>;
}): ExitMarks {
  const { fill } = SETTINGS[model.setting];
  const lastLadder = rememberLadders(market, model);
  const swap = (inputMint: Mint, outputMint: Mint, amount: bigint, at: Millis): bigint | undefined => {
    if (amount === 0n) return 0n;
    const found = lastLadder(inputMint, outputMint, at);
    if (typeof found !== 'string') return outputInPieces(found.ladder, amount);
    return valueIn(market, tokens, { mint: inputMint, amount, currency: outputMint });
  };
  /**
   * Returns the shortfall of a fill below the price on arrival: 0 for a firm quote, all accepted slippage where every
   * swap counts as sandwiched.
   */
  const shortfallBps = (mint: Mint, traded: bigint, at: Millis, allowedBps: Bps): Bps => {
    const bps = { quoted: NOTHING, arrival: model.landing.adverseBps, threshold: allowedBps }[fill];
    if (bps === NOTHING) return NOTHING;
    const found = lastLadder(mint, currency.mint, at);
    return typeof found !== 'string' && isFirm(quoteFor(found, traded).router) ? NOTHING : bps;
  };
  const exit = (mint: Mint, amount: bigint, at: Millis): bigint | undefined =>
    (mint === currency.mint ? amount : swap(mint, currency.mint, amount, at));
  const atMost = (inputMint: Mint, outputMint: Mint, amount: bigint, at: Millis): bigint => {
    const found = lastLadder(inputMint, outputMint, at);
    return typeof found === 'string' || !isBeyond(found.ladder, amount) ? amount : largestSize(found.ladder);
  };
  return {
    proceeds: (mint, amount, at, allowedBps) => {
      if (mint === currency.mint) return amount;
      const { traded } = reachingMarket(amount, mint, model);
      const recorded = exit(mint, traded, at);
      if (recorded === undefined) return undefined;
      const { received } = reachingWallet(recorded as Amount, currency.mint, model);
      return afterSlippage(received, shortfallBps(mint, traded, at, allowedBps));
    },
    exit,
    timesLargest: (mint, amount, at) => {
      const found = lastLadder(mint, currency.mint, at);
      return typeof found === 'string' || !isBeyond(found.ladder, amount) ? 0
        : Number(amount) / Number(largestSize(found.ladder));
    },
    isTurned: (mint, at) => [lastLadder(mint, currency.mint, at), lastLadder(currency.mint, mint, at)]
      .some((found) => typeof found !== 'string' && found.isOtherSide),
    bothWays: (mint, spent, at) => {
      const paid = atMost(currency.mint, mint, spent, at);
      const bought = swap(currency.mint, mint, paid, at);
      if (bought === undefined || bought === 0n) return undefined;
      const sold = atMost(mint, currency.mint, bought, at);
      const back = exit(mint, sold, at);
      return back === undefined ? undefined : { ask: Number(paid) / Number(bought), bid: Number(back) / Number(sold) };
    },
  };
}
