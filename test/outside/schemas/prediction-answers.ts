import { count, flag, integer, key, list, number, object, orNull, signedDigits, text } from './shape.ts';
import type { Schema } from './shape.ts';

const pagination = object({ start: integer, end: integer, total: integer, hasNext: flag });
const page = (records: Schema): Schema => object({ data: list(records), pagination });

const eventMetadata = object({ eventId: text, title: text }, {
  subtitle: text, slug: text, series: text, closeTime: text, imageUrl: text, isLive: flag,
});
const marketMetadata = object({ marketId: text, title: text, status: text, result: text }, {
  closeTime: integer, openTime: integer, isTeamMarket: flag, rulesPrimary: text, rulesSecondary: text, eventId: text,
});
const market = object({
  marketId: text, status: text, result: orNull(text), openTime: integer, closeTime: integer, resolveAt: integer,
  marketResultPubkey: text, imageUrl: text, metadata: marketMetadata,
  pricing: object({}, Object.fromEntries(
    ['buyYesPriceUsd', 'buyNoPriceUsd', 'sellYesPriceUsd', 'sellNoPriceUsd', 'volume'].map((name) => [name, number]),
  )),
});

/** `GET /prediction/v1/events/search` and `/events/suggested/{pubkey}`. */
export const events = object({ data: list(object({
  eventId: text, isActive: flag, isLive: flag, category: text, subcategory: text, volumeUsd: signedDigits,
  metadata: eventMetadata, markets: list(market),
}, { closeCondition: text, beginAt: text, rulesPdf: text, tags: list(text) })) });

/** `GET /prediction/v1/events/{eventId}/markets`. */
export const markets = page(market);

const level = (price: Schema): Schema => ({ type: 'array', items: false, prefixItems: [price, number], minItems: 2 });

/** `GET /prediction/v1/orderbook/{marketId}`; null where there is none. */
export const book = orNull(object({
  yes: list(level(number)), no: list(level(number)), yes_dollars: list(level(text)), no_dollars: list(level(text)),
}));

const position = object({
  pubkey: key, owner: key, ownerPubkey: key, market: text, marketId: text, marketIdHash: text, isYes: flag,
  contracts: signedDigits, totalCostUsd: signedDigits, sizeUsd: signedDigits, valueUsd: orNull(signedDigits),
  avgPriceUsd: signedDigits, markPriceUsd: orNull(signedDigits), sellPriceUsd: orNull(signedDigits),
  pnlUsd: orNull(signedDigits), pnlUsdPercent: orNull(number), pnlUsdAfterFees: orNull(signedDigits),
  pnlUsdAfterFeesPercent: orNull(number), openOrders: count, feesPaidUsd: signedDigits, realizedPnlUsd: number,
  claimed: flag, claimedUsd: signedDigits, openedAt: integer, updatedAt: integer, claimableAt: orNull(integer),
  payoutUsd: signedDigits, bump: count, eventId: text, eventMetadata, marketMetadata,
  settlementDate: orNull(integer), claimable: flag,
});

/** `GET /prediction/v1/positions`. */
export const positions = page(position);

const words = [
  'signature', 'slot', 'orderPubkey', 'positionPubkey', 'marketId', 'ownerPubkey', 'keeperPubkey', 'externalOrderId',
  'orderId', 'eventId',
];
const amounts = [
  'contracts', 'filledContracts', 'contractsSettled', 'maxFillPriceUsd', 'avgFillPriceUsd', 'maxBuyPriceUsd',
  'minSellPriceUsd', 'depositAmountUsd', 'totalCostUsd', 'feeUsd', 'grossProceedsUsd', 'netProceedsUsd',
  'transferAmountToken', 'realizedPnl', 'realizedPnlBeforeFees', 'payoutAmountUsd',
];

/** `GET /prediction/v1/history`. */
export const history = page(object({ id: integer, eventType: text, timestamp: integer }, {
  isBuy: flag, isYes: flag, eventMetadata, marketMetadata,
  ...Object.fromEntries(words.map((name) => [name, text])),
  ...Object.fromEntries(amounts.map((name) => [name, signedDigits])),
}));

