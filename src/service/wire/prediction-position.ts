import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import {
  decisiveText, lenientFlag, lenientInstant, lenientNumber, lenientText, optional, wireInteger,
} from './fields.ts';
import {
  quantityOf, wireContractPrice, wireContracts, wireEventMetadata, wireMarketMetadata, wireMicroUsd, wirePrice,
  wireProfit,
} from './prediction-events.ts';
import type { RecordKind, ReportUnread } from './read.ts';
import { malformed, membersOf, readWire } from './read.ts';
import type { PredictionPosition } from '../../market/prediction.ts';

const count = optional(wireInteger.refine((value) => value >= 0, { error: 'expected an integer of at least 0' }));

const WirePosition = z.object({
  pubkey: z.string().min(1).max(100),
  // Whose position it is, and so whether it is the one that was asked for.
  owner: decisiveText(z.string().max(100)),
  ownerPubkey: decisiveText(z.string().max(100)),
  market: lenientText,
  marketId: z.string().min(1).max(200),
  marketIdHash: lenientText,
  isYes: z.boolean(),
  contracts: wireContracts.whole,
  contractsMicro: wireContracts.micro,
  contractsDecimal: wireContracts.decimal,
  totalCostUsd: wireMicroUsd,
  sizeUsd: wireMicroUsd,
  valueUsd: wireMicroUsd,
  avgPriceUsd: wirePrice,
  markPriceUsd: wireContractPrice,
  sellPriceUsd: wireContractPrice,
  pnlUsd: wireProfit,
  pnlUsdPercent: lenientNumber,
  pnlUsdAfterFees: wireProfit,
  pnlUsdAfterFeesPercent: lenientNumber,
  openOrders: count,
  feesPaidUsd: wireMicroUsd,
  realizedPnlUsd: wireProfit,
  claimed: lenientFlag,
  claimedUsd: wireMicroUsd,
  openedAt: lenientInstant,
  updatedAt: lenientInstant,
  claimableAt: lenientInstant,
  payoutUsd: wireMicroUsd,
  bump: count,
  eventId: lenientText,
  eventMetadata: wireEventMetadata,
  marketMetadata: wireMarketMetadata,
  settlementDate: lenientInstant,
  claimable: lenientFlag,
});

/** How positions are read. */
export const POSITIONS: RecordKind<PredictionPosition> =
  {
    what: 'positions', idMember: 'pubkey', read: (element, { unread }) => readPositionElement(element, unread),
  };

/**
 * Returns the position of an answer, bare or wrapped. Throws SERVICE_MALFORMED, also where it is another one than was
 * asked for.
 */
export function readPosition(answer: Json, pubkey: string, unread?: ReportUnread): PredictionPosition {
  const position = readPositionElement(membersOf(answer)['data'] ?? answer, unread);
  if (position.pubkey !== pubkey) throw malformed(`position, pubkey: expected ${pubkey}`, position.pubkey);
  return position;
}

function readPositionElement(element: Json, unread: ReportUnread | undefined): PredictionPosition {
  const { contracts, contractsMicro, contractsDecimal, ...position } =
    readWire(WirePosition, element, 'position', unread);
  const held = quantityOf('position', { whole: contracts, micro: contractsMicro, decimal: contractsDecimal });
  if (held === undefined) throw malformed('position, contracts: expected the number of contracts held', undefined);
  const owner = agreed('ownerPubkey', position.ownerPubkey, position.owner);
  const totalCostUsd = agreed('totalCostUsd', position.totalCostUsd, position.sizeUsd);
  return {
    ...position, owner, ownerPubkey: owner, totalCostUsd, sizeUsd: totalCostUsd, contracts: held.whole,
    contractsMicro: held.micro,
  };
}

/** Two names of one thing: either stands for both. */
function agreed<T extends string | bigint>(name: string, value: T | undefined, alias: T | undefined): T | undefined {
  if (value === undefined || alias === undefined || value === alias) return value ?? alias;
  throw malformed(
    `position, ${name}: expected the same as under its other name, ${printable(String(alias), 60)}`, value,
  );
}
