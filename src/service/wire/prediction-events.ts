import { z } from 'zod';
import type { MicroUsd } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { optional } from './fields.ts';
import { lenientFlag, lenientInstant, lenientNumber, lenientProse, lenientText, lenientTexts } from './lenient.ts';
import { wireContractPrice } from './prediction-fields.ts';
import { readWire } from './read.ts';
import type { RecordKind } from './records.ts';

/** What is said of a market. Its texts are hostile until printed through `printable`. */
export interface MarketMetadata {
  readonly marketId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly title?: string | undefined;
  /** `open`, `closed` and `cancelled`, in positions and history also `yes` and `no`; others pass. */
  readonly status?: string | undefined;
  /** `yes` or `no` once resolved; others pass. */
  readonly result?: string | undefined;
  readonly closeTime?: Millis | undefined;
  readonly openTime?: Millis | undefined;
  readonly isTeamMarket?: boolean | undefined;
  readonly rulesPrimary?: string | undefined;
  readonly rulesSecondary?: string | undefined;
}

/**
 * What one contract costs and brings now; a side without a price, and any side once the market is closed, is undefined,
 * never 0.
 */
export interface MarketPricing {
  readonly buyYesPriceUsd?: MicroUsd | undefined;
  readonly buyNoPriceUsd?: MicroUsd | undefined;
  readonly sellYesPriceUsd?: MicroUsd | undefined;
  readonly sellNoPriceUsd?: MicroUsd | undefined;
  /** A plain number, for people: its unit is not stated. */
  readonly volume?: number | undefined;
}

/** A market with two outcomes. Some answers carry no more of it than its id. */
export interface PredictionMarket {
  readonly marketId: string;
  /** `open`, `closed` and `cancelled` are known; others pass. A resolved market stays closed and has a result. */
  readonly status?: string | undefined;
  /** `yes` or `no` once resolved; others pass. */
  readonly result?: string | undefined;
  readonly openTime?: Millis | undefined;
  /** When it is to close; it may be closed long before. */
  readonly closeTime?: Millis | undefined;
  readonly resolveAt?: Millis | undefined;
  readonly marketResultPubkey?: string | undefined;
  readonly imageUrl?: string | undefined;
  /** Where its data come from, in neutral words. */
  readonly provider?: string | undefined;
  /** What its sides are called, YES first, where they have names of their own. */
  readonly outcomes: readonly string[];
  /** Also where the service has it flat among the market's own members. */
  readonly metadata: MarketMetadata;
  readonly pricing: MarketPricing;
}

const metadataShape = {
  eventId: lenientText,
  title: lenientText,
  status: lenientText,
  result: lenientText,
  closeTime: lenientInstant,
  openTime: lenientInstant,
  isTeamMarket: lenientFlag,
  rulesPrimary: lenientProse,
  rulesSecondary: lenientProse,
};

/** What positions and history say of their market; undefined where they say nothing. */
export const wireMarketMetadata = optional(z.object({ marketId: lenientText, ...metadataShape })).catch(undefined);

const WireMarket = z.object({
  marketId: z.string().min(1).max(200),
  ...metadataShape,
  resolveAt: lenientInstant,
  marketResultPubkey: lenientText,
  imageUrl: lenientProse,
  provider: lenientText,
  outcomes: lenientTexts,
  metadata: wireMarketMetadata,
  pricing: optional(z.object({
    buyYesPriceUsd: wireContractPrice,
    buyNoPriceUsd: wireContractPrice,
    sellYesPriceUsd: wireContractPrice,
    sellNoPriceUsd: wireContractPrice,
    volume: lenientNumber,
  })),
});

/** How markets are read, in the nested form and in the flat one. */
export const MARKETS: RecordKind<PredictionMarket> = { what: 'markets', idMember: 'marketId', read: readMarket };

function readMarket(element: Json): PredictionMarket {
  const { eventId, title, isTeamMarket, rulesPrimary, rulesSecondary, metadata, pricing, ...market } =
    readWire(WireMarket, element, 'market');
  const flat: MarketMetadata = {
    marketId: market.marketId, eventId, title, status: market.status, result: market.result,
    closeTime: market.closeTime, openTime: market.openTime, isTeamMarket, rulesPrimary, rulesSecondary,
  };
  return {
    ...market,
    // What stands among the market's own members is the market's; its metadata may speak of another moment.
    metadata: metadata === undefined ? flat : filledUp(metadata, flat),
    pricing: pricing ?? {},
  };
}

/** Returns the first with what it does not know taken from the second. */
function filledUp<T extends object>(first: T, second: T): T {
  const known = Object.entries(first).filter(([, value]) => value !== undefined);
  return { ...second, ...Object.fromEntries(known) };
}
