import { mulDiv } from '../../../core/amount.ts';
import { assert } from '../../../core/assert.ts';
import { ONE, type Position } from '../../prediction/positions.ts';
import { valuationOf } from '../../prediction/valuation.ts';
import { contractMembers } from './contracts.ts';
import { eventMetadata } from './event-record.ts';
import { marketMetadata } from './market-record.ts';
import type { PredictionView } from './prediction-route.ts';

/** Returns a position as the API writes it: values, marks and unrealised profits are null once its market is closed. */
export function positionRecord(position: Position, view: PredictionView): object {
  const { world, profile, slot } = view;
  const { timeline, venue, identifiers } = world;
  const { marketId } = position;
  const listing = world.market(marketId);
  assert(listing !== undefined, `a position on the market ${marketId}, which does not exist`);
  const worth = valuationOf(position, { listing, venue, slot });
  const { result, resolvedSlot } = venue.state(listing, slot);
  const hasWon = result !== null && (result === 'yes') === position.isYes;
  return {
    pubkey: position.pubkey,
    owner: position.owner,
    ownerPubkey: position.owner,
    market: identifiers.address(`market:${marketId}`),
    marketId,
    marketIdHash: identifiers.hex(`market-id:${marketId}`),
    isYes: position.isYes,
    ...contractMembers('contracts', position.contracts, profile),
    totalCostUsd: position.cost.toString(),
    sizeUsd: position.cost.toString(),
    valueUsd: text(worth?.valueUsd),
    avgPriceUsd: mulDiv(position.cost, ONE, position.contracts, 'floor').toString(),
    markPriceUsd: text(worth?.markPriceUsd),
    sellPriceUsd: text(worth?.sellPriceUsd),
    pnlUsd: text(worth?.pnlUsd),
    pnlUsdPercent: worth?.pnlUsdPercent ?? null,
    pnlUsdAfterFees: text(worth?.pnlUsdAfterFees),
    pnlUsdAfterFeesPercent: worth?.pnlUsdAfterFeesPercent ?? null,
    openOrders: position.openOrders,
    feesPaidUsd: position.fees.toString(),
    realizedPnlUsd: Number(position.realized),
    claimed: position.isClaimed,
    claimedUsd: position.claimedUsd.toString(),
    openedAt: timeline.unixSeconds(position.openedSlot),
    updatedAt: timeline.unixSeconds(position.updatedSlot),
    claimableAt: position.claimableSlot === undefined ? null : timeline.unixSeconds(position.claimableSlot),
    // A contract that wins pays one dollar.
    payoutUsd: position.contracts.toString(),
    bump: 255 - (identifiers.bytes(`bump:${position.pubkey}`)[0]! % 4),
    eventId: listing.event.plan.eventId,
    eventMetadata: eventMetadata(listing.event, view),
    marketMetadata: marketMetadata(listing, view),
    settlementDate: timeline.unixSeconds(resolvedSlot ?? listing.resolveSlot),
    claimable: hasWon && !position.isClaimed,
  };
}

function text(value: bigint | undefined): string | null {
  return value === undefined ? null : value.toString();
}
