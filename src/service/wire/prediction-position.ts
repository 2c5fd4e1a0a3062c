import { z } from 'zod';
import type { MicroUsd } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import {
  lenientFlag, lenientInstant, lenientNumber, lenientText, optional, optionalText, wireInteger,
} from './fields.ts';
import type { EventMetadata, MarketMetadata, MicroContracts } from './prediction-events.ts';
import {
  quantityOf, wireContractPrice, wireContracts, wireEventMetadata, wireMarketMetadata, wireMicroUsd, wirePrice,
  wireProfit,
} from './prediction-events.ts';
import type { RecordKind } from './read.ts';
import { malformed, membersOf, readWire } from './read.ts';

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

const count = optional(wireInteger.refine((value) => value >= 0, { error: 'expected an integer of at least 0' }));

const WirePosition = z.object({
  pubkey: z.string().min(1).max(100),
  owner: optionalText(z.string().max(100)),
  ownerPubkey: optionalText(z.string().max(100)),
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
  { what: 'positions', idMember: 'pubkey', read: readPositionElement };

/**
 * Returns the position of an answer, bare or wrapped. Throws SERVICE_MALFORMED, also where it is another one than was
 * asked for.
 */
export function readPosition(answer: Json, pubkey: string): PredictionPosition {
  const position = readPositionElement(membersOf(answer)['data'] ?? answer);
  if (position.pubkey !== pubkey) throw malformed(`position, pubkey: expected ${pubkey}`, position.pubkey);
  return position;
}

function readPositionElement(element: Json): PredictionPosition {
  const { contracts, contractsMicro, contractsDecimal, ...position } = readWire(WirePosition, element, 'position');
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
