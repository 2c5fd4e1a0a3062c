import { z } from 'zod';
import type { MicroUsd } from '../../core/amount.ts';
import { parseDecimal } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import {
  lenientFlag, lenientInstant, lenientNumber, lenientProse, lenientText, lenientTexts, optional, wireU64,
} from './fields.ts';
import type { RecordKind, RecordReport, Records, ReportUnread } from './read.ts';
import { malformed, membersOf, readRecords, readWire } from './read.ts';
import type { MarketMetadata, MicroContracts, PredictionEvent, PredictionMarket } from '../../market/prediction.ts';

const CONTRACT_DECIMALS = 6;
const MICRO_CONTRACTS = 1_000_000n;
const U128_MAX = 2n ** 128n - 1n;
const WHOLE = { error: 'expected whole micro dollars' };

/** Micro dollars of any sign, as digits or as a whole number: up to 128 bits, exact. */
const signedMicroUsd = z
  .union([z.string().regex(/^-?\d{1,39}$/, WHOLE), z.int(WHOLE), z.bigint()], WHOLE)
  .transform((value) => BigInt(value) as MicroUsd)
  .refine((value) => value <= U128_MAX && value >= -U128_MAX, { error: 'expected micro dollars of at most 128 bits' });

const microUsd =
  signedMicroUsd.refine((value) => value >= 0n, { error: 'expected micro dollars that are not negative' });

/** Micro dollars that can be lost as well as won; undefined where they are not known. */
export const wireProfit = optional(signedMicroUsd);

/** Micro dollars, never negative; undefined where they are not known. */
export const wireMicroUsd = optional(microUsd);

/**
 * A price in micro dollars. 0 stands where there is none (a market that is closed, a side without takers), so it is
 * undefined.
 */
export const wirePrice = priceOf(microUsd);

/** A price of something that pays one dollar: more is a price in another unit. */
export const wireContractPrice = priceOf(microUsd.refine((value) => value <= 1_000_000n, {
  error: 'expected a price of at most 1000000 micro dollars',
}));

function priceOf(schema: typeof microUsd) {
  return optional(schema).transform((value) => (value === 0n ? undefined : value));
}

/** No longer than 64 bits of millionths. */
const decimal = z.string().regex(/^\d{1,13}(\.\d{1,6})?$/, { error: 'expected contracts with at most 6 decimals' })
  .transform((text) => parseDecimal(text, CONTRACT_DECIMALS) as bigint);

/** The forms in which one number of contracts comes; undefined where it does not. */
export const wireContracts =
  { whole: optional(wireU64), micro: optional(wireU64), decimal: optional(decimal) };

interface Quantity {
  /** Whole contracts: all there are in the older form, without the fraction in the newer one. */
  readonly whole: bigint;
  /** Exact. */
  readonly micro: MicroContracts;
}

/**
 * Returns a number of contracts, undefined where it is not given. Throws SERVICE_MALFORMED where its exact forms
 * differ.
 */
export function quantityOf(what: string, wire: {
  readonly whole: bigint | undefined; readonly micro: bigint | undefined; readonly decimal: bigint | undefined;
}): Quantity | undefined {
  if (wire.micro !== undefined && wire.decimal !== undefined && wire.micro !== wire.decimal) {
    throw malformed(
      `${what}: expected the decimal number of contracts to say the same as the ${wire.micro} millionths`,
      `${wire.decimal} millionths`,
    );
  }
  const exact = wire.micro ?? wire.decimal;
  if (exact !== undefined) return { whole: wire.whole ?? exact / MICRO_CONTRACTS, micro: exact as MicroContracts };
  return wire.whole === undefined ? undefined
    : { whole: wire.whole, micro: (wire.whole * MICRO_CONTRACTS) as MicroContracts };
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

/** The market in positions and history; undefined where they do not describe it. */
export const wireMarketMetadata = optional(z.object({ marketId: lenientText, ...metadataShape }));

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

function readMarket(element: Json, { unread }: RecordReport): PredictionMarket {
  const { eventId, title, isTeamMarket, rulesPrimary, rulesSecondary, metadata, pricing, ...market } =
    readWire(WireMarket, element, 'market', unread);
  const flat: MarketMetadata = {
    marketId: market.marketId, eventId, title, status: market.status, result: market.result,
    closeTime: market.closeTime, openTime: market.openTime, isTeamMarket, rulesPrimary, rulesSecondary,
  };
  return {
    ...market,
    // The market's own members describe it now; its metadata may be of another time.
    metadata: metadata === undefined ? flat : filledUp(metadata, flat),
    pricing: pricing ?? {},
  };
}

/** Returns the first with its unknown members taken from the second. */
function filledUp<T extends object>(first: T, second: T): T {
  const known = Object.entries(first).filter(([, value]) => value !== undefined);
  return { ...second, ...Object.fromEntries(known) };
}

/** The event in positions and history; undefined where they do not describe it. */
export const wireEventMetadata = optional(z.object({
  eventId: lenientText,
  title: lenientText,
  subtitle: lenientText,
  slug: lenientText,
  series: lenientText,
  closeTime: lenientInstant,
  imageUrl: lenientProse,
  isLive: lenientFlag,
}));

const WireEvent = z.object({
  eventId: z.string().min(1).max(200),
  isActive: lenientFlag,
  isLive: lenientFlag,
  category: lenientText,
  subcategory: lenientText,
  volumeUsd: wireMicroUsd,
  closeCondition: lenientProse,
  beginAt: lenientInstant,
  rulesPdf: lenientProse,
  tags: lenientTexts,
  metadata: wireEventMetadata,
});

const EVENTS: RecordKind<PredictionEvent> = {
  what: 'events',
  idMember: 'eventId',
  read(element, report) {
    const event = readWire(WireEvent, element, 'event', report.unread);
    const { records, rejected } = readRecords(MARKETS, membersOf(element)['markets'] ?? [], report.unread);
    rejected.forEach(report.rejected);
    return { ...event, metadata: event.metadata ?? {}, markets: records };
  },
};

/**
 * Returns the events of an answer, bare or wrapped; a market that cannot be read is reported by its own id. Throws
 * SERVICE_MALFORMED.
 */
export function readEvents(answer: Json, unread?: ReportUnread): Records<PredictionEvent> {
  return readRecords(EVENTS, Array.isArray(answer) ? (answer as readonly Json[]) : membersOf(answer)['data'], unread);
}
