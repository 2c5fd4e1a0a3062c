import { TAKER } from '../answers.ts';

export const OWNER = TAKER;
export const POSITION = 'Posn1111111111111111111111111111111111111111';
export const ORDER = 'Ordr1111111111111111111111111111111111111111';

type Changes = Readonly<Record<string, unknown>>;
type Answer = Record<string, unknown>;

/** A market as the reference has it: its texts in `metadata`. */
export function marketAnswer(marketId: string, changes: Changes = {}): Answer {
  return {
    marketId, status: 'open', result: null, openTime: 1_780_000_000, closeTime: 1_790_000_000, resolveAt: null,
    marketResultPubkey: 'Rslt1111111111111111111111111111111111111111', imageUrl: 'https://images.example/m.png',
    metadata: {
      marketId, title: 'The tide comes in', status: 'open', result: null, closeTime: 1_790_000_000,
      openTime: 1_780_000_000, isTeamMarket: false,
      rulesPrimary: 'By the gauge in the harbour.', rulesSecondary: 'By eye, if it is broken.',
    },
    pricing: {
      buyYesPriceUsd: 310_000, buyNoPriceUsd: 700_000, sellYesPriceUsd: 300_000, sellNoPriceUsd: 690_000,
      volume: 12_345_678,
    },
    ...changes,
  };
}

/** The same market as hosts send it: flat, with members of their own. */
export function flatMarketAnswer(marketId: string, changes: Changes = {}): Answer {
  const { metadata, ...market } = marketAnswer(marketId);
  const { title, isTeamMarket, rulesPrimary, rulesSecondary } = metadata as Answer;
  return {
    ...market, title, isTeamMarket, rulesPrimary, rulesSecondary, provider: 'provider_b', outcomes: ['In', 'Out'],
    team: null, sportsLine: null,
    marketOptions: [{ label: 'In', buyYes: true }],
    ...changes,
  };
}

/** An event as the reference has it. */
export function eventAnswer(eventId: string, changes: Changes = {}): Answer {
  return {
    eventId, isActive: true, isLive: false, category: 'weather', subcategory: 'tides', volumeUsd: '4321000987000000',
    closeCondition: 'When the tide has turned.', beginAt: '1783300200', rulesPdf: 'https://rules.example/tides.pdf',
    tags: ['sea', '5m'],
    metadata: {
      eventId, title: 'Tides of the week', subtitle: 'Spring', slug: 'tides-of-the-week', series: 'tides',
      closeTime: '2026-07-20T00:00:00Z',
      imageUrl: 'https://images.example/e.png', isLive: false,
    },
    markets: [marketAnswer(`${eventId}-1`)],
    ...changes,
  };
}

const embedded = {
  eventMetadata: { eventId: 'TIDES', title: 'Tides of the week', closeTime: '2026-07-20T00:00:00Z', isLive: true },
  marketMetadata: {
    marketId: 'TIDES-1', eventId: 'TIDES', title: 'The tide comes in', status: 'open', result: null,
    closeTime: 1_790_000_000, openTime: 1_780_000_000,
  },
};

/** What hosts say of events and markets within positions and history. */
const embeddedLive = {
  eventMetadata: {
    ...embedded.eventMetadata, closeTime: 1_784_505_600, tags: ['sea'], beginAt: null, category: 'weather',
  },
  marketMetadata: {
    ...embedded.marketMetadata, provider: 'provider_b', subtitle: 'In', status: 'yes', result: 'yes', marketOptions: [],
  },
};

/** A position as the reference has it: 12 contracts of YES, bought at 0.21 dollars. */
export function positionAnswer(changes: Changes = {}): Answer {
  return {
    pubkey: POSITION, owner: OWNER, ownerPubkey: OWNER, market: 'Mrkt1111111111111111111111111111111111111111',
    marketId: 'TIDES-1', marketIdHash: '00112233445566778899aabbccddeeff', isYes: true, contracts: '12',
    totalCostUsd: '2520000', sizeUsd: '2520000', valueUsd: '2280000',
    avgPriceUsd: '210000', markPriceUsd: '190000', sellPriceUsd: '190000', pnlUsd: '-240000', pnlUsdPercent: -9.52,
    pnlUsdAfterFees: '-380000', pnlUsdAfterFeesPercent: -14.28, openOrders: 1, feesPaidUsd: '140000',
    realizedPnlUsd: -5, claimed: false, claimedUsd: '0', openedAt: 1_783_240_590,
    updatedAt: 1_783_240_600, claimableAt: null, payoutUsd: '12000000', bump: 255, eventId: 'TIDES',
    settlementDate: 1_790_000_000, claimable: false,
    ...embedded,
    ...changes,
  };
}

/** The same position as hosts send it: a fraction of a contract more, and exact. */
export function livePositionAnswer(changes: Changes = {}): Answer {
  return positionAnswer({
    contractsMicro: '12660000', contractsDecimal: '12.66', maxSlippageBps: 2_500, integratorFeeUsd: '0',
    source: 'program', ...embeddedLive, ...changes,
  });
}

/** An entry of the ledger as the reference has it: an order filled. */
export function historyAnswer(id: number, changes: Changes = {}): Answer {
  return {
    id, eventType: 'order_filled', signature: '5'.repeat(87), slot: '430000017', timestamp: 1_783_300_349,
    orderPubkey: ORDER, positionPubkey: POSITION, marketId: 'TIDES-1', ownerPubkey: OWNER,
    keeperPubkey: 'Keep1111111111111111111111111111111111111111', externalOrderId: 'e-1', orderId: '0x0d17',
    isBuy: true, isYes: true, contracts: '31', filledContracts: '26', contractsSettled: '0', maxFillPriceUsd: '150000',
    avgFillPriceUsd: '169990', maxBuyPriceUsd: '150000', minSellPriceUsd: null, depositAmountUsd: '5000000',
    totalCostUsd: '4460000', feeUsd: '258000', grossProceedsUsd: '0', netProceedsUsd: '0',
    transferAmountToken: '282000', realizedPnl: '-4718000', realizedPnlBeforeFees: '-4460000', payoutAmountUsd: '0',
    eventId: 'TIDES',
    ...embedded,
    ...changes,
  };
}

/** An entry as hosts send it: a position that came to nothing. */
export function liveHistoryAnswer(id: number, changes: Changes = {}): Answer {
  return historyAnswer(id, {
    eventType: 'position_lost', orderPubkey: '', externalOrderId: '', orderId: '', isBuy: false, contracts: '0',
    contractsMicro: '0', contractsDecimal: '0', filledContracts: '0', filledContractsMicro: '0',
    filledContractsDecimal: '0', contractsSettled: '26', contractsSettledMicro: '26250000',
    contractsSettledDecimal: '26.25',
    maxFillPriceUsd: '0', avgFillPriceUsd: '0', maxBuyPriceUsd: null, feeUsd: null, transferAmountToken: null,
    ...embeddedLive, ...changes,
  });
}

/** A part of a list, cut at 20 without a word, and where it lies. */
export function pageAnswer(
  elements: readonly unknown[], range: { readonly start: number; readonly end: number },
): Answer {
  const data = elements.slice(range.start, Math.min(range.end, range.start + 20));
  const end = range.start + data.length;
  return { data, pagination: { start: range.start, end, total: elements.length, hasNext: end < elements.length } };
}
