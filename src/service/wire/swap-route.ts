import { z } from 'zod';
import type { Amount } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import { optional, optionalText, wireAmount, wireInteger, wireList, wireMint, wireNumber, wireText } from './fields.ts';

/** No transaction has room for more. */
export const MOST_STEPS = 256;

/** One market on the way from the input to the output. */
export interface SwapInfo {
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
  /** The share of the route; 100 is all of it. Undefined with V2 instructions in V1 quotes. */
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

const swapInfo = z.object({
  ammKey: optionalText(wireText),
  label: optionalText(wireText),
  inputMint: wireMint,
  outputMint: wireMint,
  inAmount: wireAmount,
  outAmount: wireAmount,
  feeAmount: optionalText(wireAmount),
  feeMint: optionalText(wireMint),
});

/** The steps of a route; none where the answer has no plan. */
export const routePlan = optional(wireList(z.object({
  swapInfo,
  percent: optional(wireInteger),
  bps: optional(wireInteger),
  usdValue: optional(wireNumber),
}).transform((entry): RoutePlanEntry => ({
  ...entry,
  bps: entry.bps ?? (entry.percent === undefined ? undefined : entry.percent * 100),
})), MOST_STEPS)).transform((plan): readonly RoutePlanEntry[] => plan ?? []);

/** A platform's fee, or none. */
export const platformFee = optional(z.object({
  amount: optionalText(wireAmount),
  feeBps: optional(wireNumber),
  feeMint: optionalText(wireMint),
}).transform((fee): PlatformFee => fee));
