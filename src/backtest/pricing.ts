import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { Mint } from '../market/token.ts';
import type { Intent } from '../trading/intent.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import { TIMES_INTERVAL } from '../trading/simulation-model.ts';
import type { SwapTerms } from '../trading/swap-order.ts';
import { minimumOut } from '../trading/terms.ts';
import type { MarketLadder } from './models/market-ladder.ts';
import { createAcceptedQuotes, ladderAt, quoteFor } from './models/market-ladder.ts';
import type { OwnImpact } from './models/own-impact.ts';
import { outputAfter } from './models/own-impact.ts';
import { impactBasis, impactOf, isBeyond, isSlotsApart, knowsBeyond, largestSize } from './models/quote-ladder.ts';
import { reachingMarket, reachingWallet } from './models/swap-costs.ts';
import type { RecordedIntervals } from './sampling.ts';

/** What makes a simulated price less sure than others. */
export type PriceMark =
  /** From quotes of the other direction. */
  | 'other-side'
  /** Of more than was ever quoted. */
  | 'extrapolated'
  /** Of no more than was quoted, but of more together with what own earlier swaps still displace. */
  | 'displaced'
  /** Between quotes of different slots. */
  | 'slots-apart';

/** A part of a swap that went to somebody else, in smallest units of a token. */
export interface TokenFee {
  readonly mint: Mint;
  readonly amount: Amount;
}

/**
 * What a swap would bring at some time. What goes in is `traded` and the fees on the input; what the market pays is the
 * output and the fees on it.
 */
export interface SimulatedPrice {
  /** What reaches the wallet. */
  readonly outAmount: Amount;
  readonly marks: readonly PriceMark[];
  /** What reaches the market of the input. */
  readonly traded: Amount;
  /** What the market pays. */
  readonly paid: Amount;
  readonly platformFee: TokenFee;
  readonly transferFees: readonly TokenFee[];
  /** The quotes that it is from, and what they alone would pay. */
  readonly from: MarketLadder;
  readonly recorded: Amount;
  /** What own earlier swaps still displace, smallest units of the input. */
  readonly displaced: bigint;
}

/** Why something cannot be simulated. */
export interface PriceRefusal {
  readonly code: 'QUOTE_UNAVAILABLE' | 'QUOTE_STALE' | 'SIZE_BEYOND_LADDER';
  readonly reason: string;
}

/**
 * When a price is asked for, and whether the swap is under way already: then it has a price, however little is known.
 */
export interface PriceMoment {
  readonly at: Millis;
  readonly isUnderWay: boolean;
  /** Whether a price that is too old for a new swap is refused although it is under way. */
  readonly isFresh?: boolean | undefined;
}

const NO_FEES: readonly TokenFee[] = [];
const NO_MARKS: readonly PriceMark[] = [];

/** What the price of a swap depends on. */
export type PricedIntent = Pick<Intent, 'inputMint' | 'outputMint' | 'amountIn' | 'purpose'>;

/** Prices swaps from what a market held at a time, own swaps included. */
export interface Pricing {
  price(intent: PricedIntent, moment: PriceMoment): SimulatedPrice | PriceRefusal;
  /** Returns the terms on which a service would offer a price. */
  termsOf(intent: Intent, price: SimulatedPrice): SwapTerms;
}

/** Returns the pricing of a model over a market. */
export function createPricing({ market, model, ownImpact, intervals }: {
  readonly market: MarketCache; readonly model: SimulationModel; readonly ownImpact: OwnImpact;
  /** How often each feed was recorded; a feed without an interval fills from quotes up to `maxPriceAgeMs` old. */
  readonly intervals?: RecordedIntervals | undefined;
}): Pricing {
  const { costs, fillQuoteAge: { maxMs, leastMs } } = model;
  const accepted = createAcceptedQuotes(model.recordedSwaps);
  const maxAgeOf = (feed: FeedKey): Millis => {
    const intervalMs = intervals?.get(feed);
    return maxMs ?? (intervalMs === undefined ? model.maxPriceAgeMs : Math.max(leastMs, TIMES_INTERVAL * intervalMs));
  };
  const isFeeOnInput = costs.platformFeeIn === 'input';
  return {
    price(intent, { at, isUnderWay, isFresh = false }) {
      const { inputMint, outputMint, amountIn } = intent;
      const from = ladderAt(market, {
        inputMint, outputMint, at, maxAgeMs: isUnderWay && !isFresh ? Infinity : maxAgeOf,
        otherSideHaircutBps: model.otherSideHaircutBps,
        accepted: accepted.by(inputMint, outputMint, at),
      });
      if (from === 'none') return { code: 'QUOTE_UNAVAILABLE', reason: 'the recording holds no quote of this pair' };
      if (from === 'stale') return { code: 'QUOTE_STALE', reason: 'the recorded quotes of this pair are too old to '
        + 'fill a swap: backtest.max_quote_age says how old they may be' };

      const ofInput = reachingMarket(amountIn, inputMint, model);
      const { traded } = ofInput;
      const refusal = isUnderWay ? undefined : refuseSize(from, intent, { traded, extrapolate: model.extrapolate });
      if (refusal !== undefined) return refusal;

      const displaced = ownImpact.left(inputMint, outputMint, at);
      const recorded = outputAfter(from.ladder, displaced, traded) as Amount;
      const ofOutput = reachingWallet(recorded, outputMint, model);
      const { paid, received } = ofOutput;
      const hasTransferFees = ofInput.transferFee > 0n || ofOutput.transferFee > 0n;
      return {
        outAmount: received,
        marks: marksOf(from, { traded, displaced }),
        traded,
        paid,
        platformFee: isFeeOnInput ? { mint: inputMint, amount: ofInput.platformFee }
          : { mint: outputMint, amount: ofOutput.platformFee },
        transferFees: hasTransferFees ? [
          { mint: inputMint, amount: ofInput.transferFee }, { mint: outputMint, amount: ofOutput.transferFee },
        ].filter(({ amount }) => amount > 0n) : NO_FEES,
        from,
        recorded,
        displaced,
      };
    },
    termsOf(intent, { from, traded, recorded, outAmount }) {
      const { inputMint, outputMint, amountIn } = intent;
      const { router, feeBps } = quoteFor(from, traded);
      return {
        inputMint, outputMint, inAmount: amountIn, outAmount, threshold: minimumOut(intent, outAmount), router,
        priceImpact: impactOf(from.ladder, traded, recorded), feeBps: feeBps + costs.platformFeeBps,
      };
    },
  };
}

/** Returns whether pricing came to nothing. */
export function isRefusal(price: SimulatedPrice | PriceRefusal): price is PriceRefusal {
  return 'code' in price;
}

/**
 * What is larger than anything recorded is not known; priced nevertheless, a small recording would make large sizes
 * look free. But an exit of which only the other direction speaks is always priced, and marked: its size was not
 * chosen, it is what entries came to, and a position that can never be left lies more than a guess.
 */
function refuseSize({ ladder, isOtherSide }: MarketLadder, { purpose }: PricedIntent, { traded, extrapolate }: {
  readonly traded: bigint; readonly extrapolate: boolean;
}): PriceRefusal | undefined {
  const largest = largestSize(ladder);
  if (!isBeyond(ladder, traded) || (isOtherSide && purpose === 'exit')) return undefined;
  if (extrapolate && knowsBeyond(ladder)) return undefined;
  const why = extrapolate ? ', and with one size and no price impact nothing says how the price goes on'
    : ': record larger sizes, swap less, or allow backtest.extrapolate';
  const what = isOtherSide ? 'the largest quote of the other direction is worth' : 'the largest recorded size is';
  return { code: 'SIZE_BEYOND_LADDER', reason: `${traded} smallest units wanted, ${what} ${largest}${why}` };
}

/** Less of a swap's own size is noise: what is displaced fades, and is never nothing. */
const DISPLACED_PART = 100n;

/**
 * Extrapolated is what reaches beyond the largest rung together with what is displaced; without a slope displacement
 * moves no price.
 */
function marksOf(
  { ladder, isOtherSide }: MarketLadder, { traded, displaced }: { readonly traded: bigint; readonly displaced: bigint },
): readonly PriceMark[] {
  const beyond = isBeyond(ladder, traded);
  const apart = isSlotsApart(ladder, traded);
  const pushed = displaced * DISPLACED_PART > traded && !beyond && isBeyond(ladder, traded + displaced)
    && impactBasis(ladder) !== 'none';
  if (!isOtherSide && !beyond && !apart && !pushed) return NO_MARKS;
  const marks: PriceMark[] = [];
  if (isOtherSide) marks.push('other-side');
  if (beyond) marks.push('extrapolated');
  if (pushed) marks.push('displaced');
  if (apart) marks.push('slots-apart');
  return marks;
}
