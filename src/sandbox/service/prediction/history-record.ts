import { assert } from '../../../core/assert.ts';
import type { LedgerFigures, LedgerRecord } from '../../prediction/ledger.ts';
import { contractMembers } from './contracts.ts';
import { eventMetadata } from './event-record.ts';
import { marketMetadata } from './market-record.ts';
import type { PredictionView } from './prediction-route.ts';

const MONEY = [
  'maxFillPriceUsd', 'avgFillPriceUsd', 'maxBuyPriceUsd', 'minSellPriceUsd', 'depositAmountUsd', 'totalCostUsd',
  'feeUsd', 'grossProceedsUsd', 'netProceedsUsd', 'transferAmountToken', 'realizedPnl', 'realizedPnlBeforeFees',
  'payoutAmountUsd',
] as const satisfies readonly (keyof LedgerFigures)[];

/** Returns an entry of the ledger as the API writes it; what it says nothing of is "0" or empty. */
export function historyRecord(record: LedgerRecord, view: PredictionView): object {
  const { world, profile } = view;
  const { timeline, identifiers, keeper } = world;
  const listing = world.market(record.marketId);
  assert(listing !== undefined, `a record of the market ${record.marketId}, which does not exist`);
  const { figures, orderNumber } = record;
  const order = orderNumber === undefined ? undefined : orderPurpose(orderNumber);
  return {
    id: record.id,
    eventType: record.eventType,
    signature: identifiers.signature(`record:${record.id}`),
    slot: timeline.chainSlot(record.slot).toString(),
    timestamp: timeline.unixSeconds(record.slot),
    orderPubkey: order === undefined ? '' : identifiers.address(order),
    positionPubkey: record.positionPubkey,
    marketId: record.marketId,
    ownerPubkey: record.ownerPubkey,
    keeperPubkey: record.byKeeper ? keeper : '',
    externalOrderId: order === undefined ? '' : identifiers.uuid(order),
    orderId: orderNumber === undefined ? '' : orderNumber.toString(),
    isBuy: record.isBuy,
    isYes: record.isYes,
    ...contractMembers('contracts', figures.contracts ?? 0n, profile),
    ...contractMembers('filledContracts', figures.filledContracts ?? 0n, profile),
    ...contractMembers('contractsSettled', figures.contractsSettled ?? 0n, profile),
    ...Object.fromEntries(MONEY.map((name) => [name, (figures[name] ?? 0n).toString()])),
    // The live service writes the same number into both: the name misleads.
    ...(profile === 'live' ? { realizedPnlBeforeFees: (figures.realizedPnl ?? 0n).toString() } : {}),
    eventId: listing.event.plan.eventId,
    marketMetadata: marketMetadata(listing, view),
    eventMetadata: eventMetadata(listing.event, view),
  };
}

/** Returns what an order's identifiers are derived from. */
export function orderPurpose(orderNumber: number): string {
  return `order:${orderNumber}`;
}
