import { z } from 'zod';
import type { Amount } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import {
  optional, wireAddress, wireAmount, wireFigure, wireInteger, wireMint, wireNumber, wirePositiveAmount, wireText,
  wireU64,
} from './fields.ts';
import { readPriceImpact } from './price-impact.ts';
import { malformed } from './read.ts';
import { readShown } from './read-shown.ts';
import type { PlatformFee, RoutePlanEntry } from './swap-route.ts';
import { platformFee, routePlan } from './swap-route.ts';

const WHAT = 'quote';

/** What a quote of V1 says. */
export interface QuoteTerms {
  readonly inputMint: Mint;
  readonly inAmount: Amount;
  readonly outputMint: Mint;
  /** After fees, before slippage. */
  readonly outAmount: Amount;
  /**
   * With ExactIn the least output after slippage, with ExactOut the most input. `/swap` makes its own of the slippage.
   */
  readonly threshold: Amount;
  readonly swapMode: string;
  readonly slippageBps: number;
  /**
   * Signed fraction, negative is worse. V1 tells no sign that could be trusted: whatever is lost or won counts as lost.
   */
  readonly priceImpact?: number | undefined;
  /** As it came. */
  readonly priceImpactPct?: number | undefined;
  readonly routePlan: readonly RoutePlanEntry[];
  readonly platformFee?: PlatformFee | undefined;
  readonly contextSlot?: bigint | undefined;
  /** In the service's unit, which the reference does not name; seconds where it was seen. */
  readonly timeTaken?: number | undefined;
  /** Market → the output it alone would give. */
  readonly mostReliableAmmsQuoteReport?: Readonly<Record<string, Amount>> | undefined;
  /** Members for people that came in a form that cannot be read; they are missing above. */
  readonly unread: readonly string[];
}

/** What a quote has to be an answer to. */
export interface QuoteQuestion {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  readonly swapMode?: 'ExactIn' | 'ExactOut' | undefined;
}

const amountsByMarket = z.record(wireAddress, wireAmount);

const WireQuote = z.object({
  inputMint: wireMint,
  inAmount: wirePositiveAmount,
  outputMint: wireMint,
  outAmount: wirePositiveAmount,
  otherAmountThreshold: wireAmount,
  swapMode: wireText,
  slippageBps: wireInteger.refine((value) => value >= 0 && value <= 65_535, {
    error: 'expected 0 to 65535 basis points',
  }),
  priceImpactPct: wireFigure,
  routePlan,
  platformFee,
  contextSlot: optional(wireU64),
  timeTaken: optional(wireNumber),
  // Hosts of later days put the map one level deeper.
  mostReliableAmmsQuoteReport: optional(
    z.union([amountsByMarket, z.object({ info: amountsByMarket }).transform(({ info }) => info)]),
  ),
});

const SHOWN: ReadonlySet<string> =
  new Set(['routePlan', 'platformFee', 'contextSlot', 'timeTaken', 'mostReliableAmmsQuoteReport']);

/**
 * Returns the quote in an answer of V1. Throws SERVICE_MALFORMED where it contradicts itself or answers another
 * question.
 */
export function readQuote(answer: unknown, question: QuoteQuestion | undefined): QuoteTerms {
  const { value: wire, unread } = readShown(WireQuote, answer, { what: WHAT, shown: SHOWN });
  const { otherAmountThreshold: threshold, ...terms } = wire;
  if (question !== undefined) checkAnswers(terms, question);
  if (wire.swapMode === 'ExactIn' && threshold > wire.outAmount) {
    throw malformed(`${WHAT}, otherAmountThreshold: expected at most the outAmount of ${wire.outAmount}`, threshold);
  }
  if (wire.swapMode === 'ExactOut' && threshold < wire.inAmount) {
    throw malformed(`${WHAT}, otherAmountThreshold: expected at least the inAmount of ${wire.inAmount}`, threshold);
  }
  return {
    ...terms, threshold, priceImpact: readPriceImpact({ priceImpactPct: wire.priceImpactPct })?.fraction, unread,
  };
}

function checkAnswers(
  terms: Pick<QuoteTerms, 'inputMint' | 'outputMint' | 'inAmount' | 'outAmount' | 'swapMode'>, question: QuoteQuestion,
): void {
  const { inputMint, outputMint, amount, swapMode = 'ExactIn' } = question;
  if (terms.inputMint !== inputMint) throw malformed(`${WHAT}, inputMint: expected ${inputMint}`, terms.inputMint);
  if (terms.outputMint !== outputMint) throw malformed(`${WHAT}, outputMint: expected ${outputMint}`, terms.outputMint);
  if (terms.swapMode !== swapMode) throw malformed(`${WHAT}, swapMode: expected ${swapMode}`, terms.swapMode);
  if (swapMode === 'ExactIn' && terms.inAmount !== amount)
    throw malformed(`${WHAT}, inAmount: expected the ${amount} asked for`, terms.inAmount);
  if (swapMode === 'ExactOut' && terms.outAmount < amount)
    throw malformed(`${WHAT}, outAmount: expected at least the ${amount} asked for`, terms.outAmount);
}
