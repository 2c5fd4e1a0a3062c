import { expect } from 'vitest';

export const DIGITS = expect.stringMatching(/^\d+$/);
export const SIGNED = expect.stringMatching(/^-?\d+$/);
export const ADDRESS = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
export const TEXT = expect.any(String);
export const NUMBER = expect.any(Number);
export const FLAG = expect.any(Boolean);
export const ISO_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

/** An error of the prediction API, as its envelope has it. */
export function envelope(code: string, param?: string): object {
  return {
    type: expect.stringMatching(/^(?:invalid_request|api)_error$/), message: TEXT, code, request_id: TEXT,
    ...(param === undefined ? {} : { param }),
  };
}

export const PRICING =
  { buyYesPriceUsd: NUMBER, buyNoPriceUsd: NUMBER, sellYesPriceUsd: NUMBER, sellNoPriceUsd: NUMBER, volume: NUMBER };

export const MARKET_METADATA = {
  marketId: TEXT, title: TEXT, status: TEXT, result: TEXT, closeTime: NUMBER, openTime: NUMBER, isTeamMarket: FLAG,
  rulesPrimary: TEXT, rulesSecondary: TEXT,
};

export const MARKET = {
  marketId: TEXT, status: expect.stringMatching(/^(?:open|closed|cancelled)$/),
  result: expect.toSatisfy((value) => [null, 'yes', 'no'].includes(value)),
  openTime: NUMBER, closeTime: NUMBER, resolveAt: NUMBER, marketResultPubkey: ADDRESS, imageUrl: TEXT,
  metadata: MARKET_METADATA, pricing: PRICING,
};

export const EVENT_METADATA = {
  eventId: TEXT, title: TEXT, subtitle: TEXT, slug: TEXT, series: TEXT, closeTime: ISO_TIME, imageUrl: TEXT,
  isLive: FLAG,
};

export const EVENT = {
  eventId: TEXT, isActive: FLAG, isLive: FLAG, category: TEXT, subcategory: TEXT, volumeUsd: DIGITS,
  closeCondition: TEXT, beginAt: ISO_TIME, rulesPdf: TEXT,
  tags: expect.any(Array), metadata: EVENT_METADATA, markets: expect.any(Array),
};

/** A position whose market is open, or closed: then its values are null. */
export function position(options: { isOpen: boolean; isSellable?: boolean }): object {
  const valued = <Shape>(shape: Shape): Shape | null => (options.isOpen ? shape : null);
  return {
    pubkey: ADDRESS, owner: ADDRESS, ownerPubkey: ADDRESS, market: ADDRESS, marketId: TEXT,
    marketIdHash: expect.stringMatching(/^[0-9a-f]{64}$/), isYes: FLAG, contracts: DIGITS, totalCostUsd: DIGITS,
    sizeUsd: DIGITS, valueUsd: valued(DIGITS), avgPriceUsd: DIGITS, markPriceUsd: valued(DIGITS),
    sellPriceUsd: options.isSellable === false ? null : valued(DIGITS), pnlUsd: valued(SIGNED),
    pnlUsdPercent: valued(NUMBER), pnlUsdAfterFees: valued(SIGNED), pnlUsdAfterFeesPercent: valued(NUMBER),
    openOrders: NUMBER, feesPaidUsd: DIGITS, realizedPnlUsd: NUMBER,
    claimed: FLAG, claimedUsd: DIGITS, openedAt: NUMBER, updatedAt: NUMBER,
    claimableAt: expect.toSatisfy((value) => value === null || typeof value === 'number'),
    payoutUsd: DIGITS, bump: NUMBER, eventId: TEXT, eventMetadata: EVENT_METADATA,
    marketMetadata: { ...MARKET_METADATA, eventId: TEXT }, settlementDate: NUMBER, claimable: FLAG,
  };
}

export const RECORD = {
  id: NUMBER, eventType: TEXT, signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,88}$/), slot: DIGITS,
  timestamp: NUMBER, orderPubkey: TEXT, positionPubkey: ADDRESS, marketId: TEXT, ownerPubkey: ADDRESS,
  keeperPubkey: TEXT, externalOrderId: TEXT, orderId: TEXT, isBuy: FLAG, isYes: FLAG,
  contracts: DIGITS, filledContracts: DIGITS, contractsSettled: DIGITS, maxFillPriceUsd: DIGITS,
  avgFillPriceUsd: DIGITS, maxBuyPriceUsd: DIGITS, minSellPriceUsd: DIGITS, depositAmountUsd: DIGITS,
  totalCostUsd: DIGITS, feeUsd: DIGITS, grossProceedsUsd: DIGITS, netProceedsUsd: DIGITS,
  transferAmountToken: DIGITS, realizedPnl: SIGNED, realizedPnlBeforeFees: SIGNED, payoutAmountUsd: DIGITS,
  eventId: TEXT, marketMetadata: { ...MARKET_METADATA, eventId: TEXT }, eventMetadata: EVENT_METADATA,
};
