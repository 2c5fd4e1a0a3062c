import { z } from 'zod';
import type { Amount, MicroUsd } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { lenientFlag, lenientText, optionalText, wireAmount, wireInstant, wireInteger, wireU64 } from './fields.ts';
import type { EventMetadata, MarketMetadata, MicroContracts } from './prediction-events.ts';
import {
  quantityOf, wireContracts, wireEventMetadata, wireMarketMetadata, wireMicroUsd, wirePrice, wireProfit,
} from './prediction-events.ts';
import type { RecordKind } from './read.ts';
import { readWire } from './read.ts';

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

const { whole, micro, decimal } = wireContracts;

const WireRecord = z.object({
  id: wireInteger,
  eventType: z.string().min(1).max(100),
  timestamp: wireInstant,
  signature: lenientText,
  slot: optionalText(wireU64).catch(undefined),
  orderPubkey: lenientText,
  positionPubkey: lenientText,
  marketId: lenientText,
  ownerPubkey: lenientText,
  keeperPubkey: lenientText,
  externalOrderId: lenientText,
  orderId: lenientText,
  isBuy: lenientFlag,
  isYes: lenientFlag,
  contracts: whole,
  contractsMicro: micro,
  contractsDecimal: decimal,
  filledContracts: whole,
  filledContractsMicro: micro,
  filledContractsDecimal: decimal,
  contractsSettled: whole,
  contractsSettledMicro: micro,
  contractsSettledDecimal: decimal,
  maxFillPriceUsd: wirePrice,
  avgFillPriceUsd: wirePrice,
  maxBuyPriceUsd: wirePrice,
  minSellPriceUsd: wirePrice,
  depositAmountUsd: wireMicroUsd,
  totalCostUsd: wireMicroUsd,
  feeUsd: wireMicroUsd,
  grossProceedsUsd: wireMicroUsd,
  netProceedsUsd: wireMicroUsd,
  transferAmountToken: optionalText(wireAmount),
  realizedPnl: wireProfit,
  realizedPnlBeforeFees: wireProfit,
  payoutAmountUsd: wireMicroUsd,
  eventId: lenientText,
  marketMetadata: wireMarketMetadata,
  eventMetadata: wireEventMetadata,
});

/** How the entries of a ledger are read. */
export const HISTORY: RecordKind<HistoryRecord> = { what: 'history', idMember: 'id', read: readRecord };

function readRecord(element: Json): HistoryRecord {
  const {
    contracts, contractsMicro, contractsDecimal, filledContracts, filledContractsMicro, filledContractsDecimal,
    contractsSettled, contractsSettledMicro, contractsSettledDecimal, ...record
  } = readWire(WireRecord, element, 'history record');
  const what = `history record ${record.id}`;
  const ordered = quantityOf(what, { whole: contracts, micro: contractsMicro, decimal: contractsDecimal });
  const filled =
    quantityOf(what, { whole: filledContracts, micro: filledContractsMicro, decimal: filledContractsDecimal });
  const settled =
    quantityOf(what, { whole: contractsSettled, micro: contractsSettledMicro, decimal: contractsSettledDecimal });
  return {
    ...record,
    contracts: ordered?.whole,
    contractsMicro: ordered?.micro,
    filledContracts: filled?.whole,
    filledContractsMicro: filled?.micro,
    contractsSettled: settled?.whole,
    contractsSettledMicro: settled?.micro,
  };
}
