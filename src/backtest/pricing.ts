import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { Mint } from '../market/token.ts';
import type { Intent } from '../trading/intent.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import { TIMES_INTERVAL } from '../trading/simulation-model.ts';
import type { SwapTerms } from '../trading/swap-terms.ts';
import { minimumOut } from '../trading/swap-terms.ts';
import type { MarketLadder } from './models/market-ladder.ts';
import { createAcceptedQuotes, ladderAt, quoteFor } from './models/market-ladder.ts';
import type { OwnImpact } from './models/own-impact.ts';
import { outputAfter } from './models/own-impact.ts';
import { impactBasis, impactOf, isBeyond, isSlotsApart, knowsBeyond, largestSize } from './models/quote-ladder.ts';
import { reachingMarket, reachingWallet } from './models/swap-costs.ts';
import type { RecordedIntervals } from './sampling.ts';

/** Why a simulated price is less reliable than others. */
export type PriceMark =
  /** It comes from quotes of the other direction. */
  | 'other-side'
  /** The size is larger than every quote. */
  | 'extrapolated'
  /** The size is within the quotes, but not together with what earlier own swaps still displace. */
  | 'displaced'
  /** It lies between quotes of different slots. */
  | 'slots-apart';

/** A fee of a swap, in smallest units of a token. */
export interface TokenFee {
  readonly mint: Mint;
  readonly amount: Amount;
}

/**
 * What a swap would bring at a time. The input is `traded` plus the fees on the input; `paid` is the output plus the
 * fees on the output.
 */
export interface SimulatedPrice {
  /** The amount that reaches the wallet. */
  readonly outAmount: Amount;
  readonly marks: readonly PriceMark[];
  /** The amount of the input that reaches the market. */
  readonly traded: Amount;
  /** The amount that the market pays. */
  readonly paid: Amount;
  readonly platformFee: TokenFee;
  readonly transferFees: readonly TokenFee[];
  /** The quotes behind the price, and the amount that they alone would pay. */
  readonly from: MarketLadder;
  readonly recorded: Amount;
  /** What earlier own swaps still displace, smallest units of the input. */
  readonly displaced: bigint;
}

/** Why a swap cannot be simulated. */
export interface PriceRefusal {
  readonly code: 'QUOTE_UNAVAILABLE' | 'QUOTE_STALE' | 'SIZE_BEYOND_LADDER';
  readonly reason: string;
}

/** The time of a price, and whether the swap is under way already. Such a swap has a price from quotes of any age. */
interface PriceMoment {
  readonly at: Millis;
  readonly isUnderWay: boolean;
  /** Whether a swap under way is refused at a price that is too old for a new swap. */
  readonly isFresh?: boolean | undefined;
}

const NO_FEES: readonly TokenFee[] = [];
const NO_MARKS: readonly PriceMark[] = [];

/** The properties of a swap that its price depends on. */
type PricedIntent = Pick<Intent, 'inputMint' | 'outputMint' | 'amountIn' | 'purpose'>;

/** Prices swaps by the market at a time, own impact included. */
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
        + 'fill a swap: backtest.max_quote_age sets the limit' };

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

/** Returns whether a swap has no price. */
export function isRefusal(price: SimulatedPrice | PriceRefusal): price is PriceRefusal {
  return 'code' in price;
}

/**
 * Refuses a size above everything recorded: a small recording would make large sizes seem free. An exit that only the
 * other direction prices is always priced, and marked: entries determined its size, and a position that can never be
 * closed distorts results more than an estimate does.
 */
function refuseSize({ ladder, isOtherSide }: MarketLadder, { purpose }: PricedIntent, { traded, extrapolate }: {
  readonly traded: bigint; readonly extrapolate: boolean;
}): PriceRefusal | undefined {
  const largest = largestSize(ladder);
  if (!isBeyond(ladder, traded) || (isOtherSide && purpose === 'exit')) return undefined;
  if (extrapolate && knowsBeyond(ladder)) return undefined;
  const why = extrapolate ? ', and one size without a price impact does not tell the price beyond it'
    : ': record larger sizes, swap less, or allow backtest.extrapolate';
  const what = isOtherSide ? 'the largest quote of the other direction is worth' : 'the largest recorded size is';
  const reason = `the swap is of ${traded} smallest units, and ${what} ${largest}${why}`;
  return { code: 'SIZE_BEYOND_LADDER', reason };
}

/** A smaller part of the swap's own size is noise: the displaced amount fades, and never becomes 0. */
const DISPLACED_PART = 100n;

/**
 * A price is extrapolated beyond the largest rung. It is displaced where only the displaced amount exceeds that rung;
 * without a known slope displacement moves no price.
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
