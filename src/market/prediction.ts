import type { Amount, Brand, MicroUsd } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEventBase } from './event-base.ts';

/** The description of a market. Its texts are hostile until printed through `printable`. */
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

/** The description of an event. Its texts are hostile until printed through `printable`. */
export interface EventMetadata {
  readonly eventId?: string | undefined;
  readonly title?: string | undefined;
  readonly subtitle?: string | undefined;
  readonly slug?: string | undefined;
  readonly series?: string | undefined;
  readonly closeTime?: Millis | undefined;
  readonly imageUrl?: string | undefined;
  readonly isLive?: boolean | undefined;
}

/** An event and the markets on it. Its texts are hostile until printed through `printable`. */
export interface PredictionEvent {
  readonly eventId: string;
  readonly isActive?: boolean | undefined;
  /** Says nothing of liquidity: a live event may have empty books. */
  readonly isLive?: boolean | undefined;
  readonly category?: string | undefined;
  readonly subcategory?: string | undefined;
  readonly volumeUsd?: MicroUsd | undefined;
  readonly closeCondition?: string | undefined;
  readonly beginAt?: Millis | undefined;
  readonly rulesPdf?: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: EventMetadata;
  /** Empty where the answer leaves them out: an event's markets have a list of their own. */
  readonly markets: readonly PredictionMarket[];
}

/** Millionths of a contract. */
export type MicroContracts = Brand<bigint, 'MicroContracts'>;

/**
 * What an owner holds of one side of one market. All dollars are micro dollars. Values, marks and unrealised profits
 * are undefined once the market is closed; a price is never 0.
 */
export interface PredictionPosition {
  readonly pubkey: string;
  /** The same as `ownerPubkey`. */
  readonly owner?: string | undefined;
  readonly ownerPubkey?: string | undefined;
  readonly market?: string | undefined;
  readonly marketId: string;
  readonly marketIdHash?: string | undefined;
  readonly isYes: boolean;
  /** Whole contracts, without a fraction that `contractsMicro` has. */
  readonly contracts: bigint;
  /** Exact. */
  readonly contractsMicro: MicroContracts;
  readonly totalCostUsd?: MicroUsd | undefined;
  /** The same as `totalCostUsd`. */
  readonly sizeUsd?: MicroUsd | undefined;
  readonly valueUsd?: MicroUsd | undefined;
  /** What one contract cost on average. */
  readonly avgPriceUsd?: MicroUsd | undefined;
  /** What one contract is worth now: the best bid, so that a fresh position shows a loss of the spread. */
  readonly markPriceUsd?: MicroUsd | undefined;
  /** The best price at which this side can be left. */
  readonly sellPriceUsd?: MicroUsd | undefined;
  readonly pnlUsd?: MicroUsd | undefined;
  readonly pnlUsdPercent?: number | undefined;
  readonly pnlUsdAfterFees?: MicroUsd | undefined;
  readonly pnlUsdAfterFeesPercent?: number | undefined;
  readonly openOrders?: number | undefined;
  readonly feesPaidUsd?: MicroUsd | undefined;
  readonly realizedPnlUsd?: MicroUsd | undefined;
  readonly claimed?: boolean | undefined;
  readonly claimedUsd?: MicroUsd | undefined;
  readonly openedAt?: Millis | undefined;
  readonly updatedAt?: Millis | undefined;
  readonly claimableAt?: Millis | undefined;
  /** What the position pays if it wins. */
  readonly payoutUsd?: MicroUsd | undefined;
  readonly bump?: number | undefined;
  readonly eventId?: string | undefined;
  readonly eventMetadata?: EventMetadata | undefined;
  readonly marketMetadata?: MarketMetadata | undefined;
  readonly settlementDate?: Millis | undefined;
  readonly claimable?: boolean | undefined;
}

/** One entry of an account's ledger. All dollars are micro dollars; a price is never 0. */
export interface HistoryRecord {
  /** Unique, and higher the newer. */
  readonly id: number;
  /** `order_created` and its like; unknown ones pass. */
  readonly eventType: string;
  readonly timestamp: Millis;
  readonly signature?: string | undefined;
  readonly slot?: bigint | undefined;
  readonly orderPubkey?: string | undefined;
  readonly positionPubkey?: string | undefined;
  readonly marketId?: string | undefined;
  readonly ownerPubkey?: string | undefined;
  readonly keeperPubkey?: string | undefined;
  readonly externalOrderId?: string | undefined;
  readonly orderId?: string | undefined;
  readonly isBuy?: boolean | undefined;
  readonly isYes?: boolean | undefined;
  /** Whole contracts of the order, without a fraction that `contractsMicro` has. */
  readonly contracts?: bigint | undefined;
  readonly contractsMicro?: MicroContracts | undefined;
  readonly filledContracts?: bigint | undefined;
  readonly filledContractsMicro?: MicroContracts | undefined;
  readonly contractsSettled?: bigint | undefined;
  readonly contractsSettledMicro?: MicroContracts | undefined;
  readonly maxFillPriceUsd?: MicroUsd | undefined;
  /** May exceed `maxBuyPriceUsd`. */
  readonly avgFillPriceUsd?: MicroUsd | undefined;
  readonly maxBuyPriceUsd?: MicroUsd | undefined;
  readonly minSellPriceUsd?: MicroUsd | undefined;
  readonly depositAmountUsd?: MicroUsd | undefined;
  readonly totalCostUsd?: MicroUsd | undefined;
  readonly feeUsd?: MicroUsd | undefined;
  readonly grossProceedsUsd?: MicroUsd | undefined;
  readonly netProceedsUsd?: MicroUsd | undefined;
  /** Smallest units of the token that the account pays with. */
  readonly transferAmountToken?: Amount | undefined;
  readonly realizedPnl?: MicroUsd | undefined;
  readonly realizedPnlBeforeFees?: MicroUsd | undefined;
  readonly payoutAmountUsd?: MicroUsd | undefined;
  readonly eventId?: string | undefined;
  readonly marketMetadata?: MarketMetadata | undefined;
  readonly eventMetadata?: EventMetadata | undefined;
}

/** The most elements of a page of the prediction API. */
export const PREDICTION_PAGE = 20;

/** A prediction market at one poll: its status, its prices, and its result once it is resolved. */
export interface PredictionMarketEvent extends MarketEventBase {
  readonly kind: 'prediction-market';
  readonly eventId: string;
  readonly market: PredictionMarket;
}

/** A page of an event's markets at one poll. */
export interface EventMarketsEvent extends MarketEventBase {
  readonly kind: 'event-markets';
  readonly eventId: string;
  readonly markets: readonly PredictionMarket[];
  /** How many markets the event has. */
  readonly total: number;
}

/** The events that a search finds, or that the service suggests for an order, at one poll. */
export interface PredictionEventsEvent extends MarketEventBase {
  readonly kind: 'prediction-events';
  readonly events: readonly PredictionEvent[];
}

/** A page of an account's positions at one poll. */
export interface PredictionPositionsEvent extends MarketEventBase {
  readonly kind: 'prediction-positions';
  readonly owner: string;
  readonly positions: readonly PredictionPosition[];
  /** How many positions the account has. */
  readonly total: number;
}

/** The newest entries of an account's ledger at one poll. */
export interface PredictionHistoryEvent extends MarketEventBase {
  readonly kind: 'prediction-history';
  readonly owner: string;
  /** The newest first. */
  readonly entries: readonly HistoryRecord[];
  /** How many entries the ledger has. */
  readonly total: number;
}
