import { z } from 'zod';
import type { Amount } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import type { SwapRequest, SwapTerms } from '../../trading/swap-terms.ts';
import {
  decisive, lenientNumber, lenientText, optional, shownList, wireAmount, wireInteger, wireMint, wireNumber,
  wirePositiveAmount, wireU64,
} from './fields.ts';
import type { ImpactBasis, PriceImpact } from './price-impact.ts';
import { malformed } from './read.ts';

/** What the answers of `/order` and `/build` say beyond the terms that a swap is decided by; for people and reports. */
export interface StatedTerms {
  /** ExactIn, or a word of the future. */
  readonly swapMode?: string | undefined;
  readonly routePlan: readonly RoutePlanEntry[];
  readonly platformFee?: PlatformFee | undefined;
  /** As it came, in whichever scale; the terms have it as a fraction. */
  readonly statedPriceImpact?: number | undefined;
  /** Deprecated; as it came. */
  readonly priceImpactPct?: number | undefined;
  /** What the price impact of the terms rests on. */
  readonly priceImpactBasis?: ImpactBasis | undefined;
  /** Optional members that came in a form that cannot be read, by name; they are missing above. */
  readonly unread: readonly string[];
}

/** One market on the way from the input to the output. */
interface SwapInfo {
  /** The market's account. */
  readonly ammKey?: string | undefined;
  /** The market's name: the service's word, not safe to print as it is. */
  readonly label?: string | undefined;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: Amount;
  readonly outAmount: Amount;
  /** Deprecated: "0" where it is still said, as the output already has the market's fees taken off. */
  readonly feeAmount?: Amount | undefined;
  readonly feeMint?: Mint | undefined;
}

/** A step of a route. */
export interface RoutePlanEntry {
  readonly swapInfo: SwapInfo;
  /** The share of the route, maybe a fraction; 100 is all of it. Undefined with V2 instructions in V1 quotes. */
  readonly percent?: number | undefined;
  /**
   * The share in basis points, 10000 is all of it; told by the service, or by us from the percent where it does not.
   */
  readonly bps?: number | undefined;
  readonly usdValue?: number | undefined;
}

/** A fee that goes to a platform; without an amount where there is no taker. */
export interface PlatformFee {
  readonly amount?: Amount | undefined;
  readonly feeBps?: number | undefined;
  readonly feeMint?: Mint | undefined;
}

/** No transaction has room for more. */
export const MOST_STEPS = 256;

const swapInfo = z.object({
  ammKey: lenientText,
  label: lenientText,
  inputMint: wireMint,
  outputMint: wireMint,
  inAmount: wireAmount,
  outAmount: wireAmount,
  feeAmount: optional(wireAmount),
  feeMint: optional(wireMint),
});

/** The steps of a route; none where the answer has no plan. */
export const routePlan = shownList(z.object({
  swapInfo,
  percent: lenientNumber,
  bps: optional(wireInteger),
  usdValue: lenientNumber,
}).transform((entry): RoutePlanEntry => ({
  ...entry,
  bps: entry.bps ?? (entry.percent === undefined ? undefined : Math.round(entry.percent * 100)),
})), MOST_STEPS);

/** A platform's fee, or none. */
export const platformFee = optional(z.object({
  amount: optional(wireAmount),
  feeBps: lenientNumber,
  feeMint: optional(wireMint),
}).transform((fee): PlatformFee => fee));

/** Basis points, 0 to 10000. */
const wireBps =
  wireNumber.refine((value) => value >= 0 && value <= 10_000, { error: 'expected 0 to 10000 basis points' });

/** What the answers of `/order` and `/build` have in common. */
export const termsShape = {
  inputMint: wireMint,
  outputMint: wireMint,
  inAmount: wirePositiveAmount,
  outAmount: wirePositiveAmount,
  otherAmountThreshold: wireAmount,
  // A word instead of a number means that the service chooses it later; it is then unknown.
  slippageBps: optional(z.union([wireBps, z.string().regex(/^[a-z]+$/i).transform(() => undefined)])),
  priceImpact: optional(wireNumber.refine((value) => value >= -100, {
    error: 'expected at least -100: no more than everything can be lost',
  })),
  priceImpactPct: lenientNumber,
  // Rounded up: it is something that we owe. A fee that cannot be read must not pass for none.
  feeBps: decisive(wireBps.transform(Math.ceil)),
  router: lenientText,
  contextSlot: optional(wireU64),
  swapMode: lenientText,
  routePlan,
  platformFee,
};

type WireTerms = z.output<z.ZodObject<typeof termsShape>>;

/**
 * Returns the terms of an answer. Throws SERVICE_MALFORMED where they contradict themselves or are not what was asked
 * for.
 */
export function readTerms(wire: WireTerms, { request, router, impact, what }: {
  readonly request: Pick<SwapRequest, 'inputMint' | 'outputMint' | 'amount'>;
  readonly router: string;
  readonly impact: PriceImpact | undefined;
  readonly what: string;
}): SwapTerms {
  if (wire.inputMint !== request.inputMint)
    throw malformed(`${what}, inputMint: expected ${request.inputMint}`, wire.inputMint);
  if (wire.outputMint !== request.outputMint)
    throw malformed(`${what}, outputMint: expected ${request.outputMint}`, wire.outputMint);
  if (wire.inAmount !== request.amount)
    throw malformed(`${what}, inAmount: expected the ${request.amount} asked for`, wire.inAmount);
  if (wire.otherAmountThreshold > wire.outAmount) {
    throw malformed(
      `${what}, otherAmountThreshold: expected at most the outAmount of ${wire.outAmount}`, wire.otherAmountThreshold,
    );
  }
  return {
    inputMint: wire.inputMint,
    outputMint: wire.outputMint,
    inAmount: wire.inAmount,
    outAmount: wire.outAmount,
    threshold: wire.otherAmountThreshold,
    slippageBps: wire.slippageBps,
    priceImpact: impact?.fraction,
    feeBps: wire.feeBps ?? 0,
    router,
    contextSlot: wire.contextSlot,
  };
}

/** Returns what an answer says beyond its terms. */
export function readStated(
  wire: WireTerms, { impact, unread }: { readonly impact: PriceImpact | undefined; readonly unread: readonly string[] },
): StatedTerms {
  return {
    swapMode: wire.swapMode,
    routePlan: wire.routePlan,
    platformFee: wire.platformFee,
    statedPriceImpact: wire.priceImpact,
    priceImpactPct: wire.priceImpactPct,
    priceImpactBasis: impact?.basis,
    unread,
  };
}
