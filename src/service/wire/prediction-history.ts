import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { lenientFlag, lenientText, optional, wireAmount, wireInstant, wireInteger, wireU64 } from './fields.ts';
import {
  quantityOf, wireContracts, wireEventMetadata, wireMarketMetadata, wireMicroUsd, wirePrice, wireProfit,
} from './prediction-events.ts';
import type { RecordKind, RecordReport } from './read.ts';
import { readWire } from './read.ts';
import type { HistoryRecord } from '../../market/prediction.ts';

const { whole, micro, decimal } = wireContracts;

const WireRecord = z.object({
  id: wireInteger,
  eventType: z.string().min(1).max(100),
  timestamp: wireInstant,
  signature: lenientText,
  slot: optional(wireU64),
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
  transferAmountToken: optional(wireAmount),
  realizedPnl: wireProfit,
  realizedPnlBeforeFees: wireProfit,
  payoutAmountUsd: wireMicroUsd,
  eventId: lenientText,
  marketMetadata: wireMarketMetadata,
  eventMetadata: wireEventMetadata,
});

/** How the entries of a ledger are read. */
export const HISTORY: RecordKind<HistoryRecord> = { what: 'history', idMember: 'id', read: readRecord };

function readRecord(element: Json, { unread }: RecordReport): HistoryRecord {
  const {
    contracts, contractsMicro, contractsDecimal, filledContracts, filledContractsMicro, filledContractsDecimal,
    contractsSettled, contractsSettledMicro, contractsSettledDecimal, ...record
  } = readWire(WireRecord, element, 'history record', unread);
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
