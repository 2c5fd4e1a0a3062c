import type { Listing } from '../../prediction/catalogue.ts';
import type { PredictionView } from './prediction-route.ts';

/** Where the pictures of events and markets are. */
export const IMAGES = 'https://images.gannet.invalid';
const RULES_SECONDARY = 'If the harbour office is closed, its next report counts.';

/** Returns a market as the API lists it: with a `metadata` of its own by the description, flat in the live form. */
export function marketRecord(listing: Listing, view: PredictionView): object {
  const { world: { timeline, venue, identifiers }, profile, slot } = view;
  const { status, result, resolvedSlot } = venue.state(listing, slot);
  const common = {
    marketId: listing.marketId,
    status,
    result,
    openTime: timeline.unixSeconds(listing.openSlot),
    closeTime: timeline.unixSeconds(listing.closeSlot),
  };
  const rest = {
    marketResultPubkey: identifiers.address(`market-result:${listing.marketId}`),
    imageUrl: `${IMAGES}/markets/${listing.marketId}.png`,
  };
  const pricing = { ...venue.pricing(listing, slot), volume: venue.volumeUsd(listing, slot) };
  if (profile === 'live') {
    return {
      ...common,
      resolveAt: resolvedSlot === undefined ? null : timeline.isoTime(resolvedSlot),
      ...rest,
      title: listing.plan.title,
      provider: listing.event.plan.provider,
      outcomes: ['Yes', 'No'],
      clobTokenIds: ['yes', 'no']
        .map((side) => BigInt(`0x${identifiers.hex(`token:${listing.marketId}:${side}`)}`).toString()),
      marketOptions: [],
      isTeamMarket: listing.plan.isTeam ?? false,
      rulesPrimary: listing.plan.rules,
      rulesSecondary: RULES_SECONDARY,
      pricing,
    };
  }
  return {
    ...common, resolveAt: timeline.unixSeconds(resolvedSlot ?? listing.resolveSlot), ...rest,
    metadata: metadataOf(listing, view, status), pricing,
  };
}

/**
 * Returns what positions and history say of their market. The live service says `yes` or `no` for the status of a
 * resolved one.
 */
export function marketMetadata(listing: Listing, view: PredictionView): object {
  const { status, result } = view.world.venue.state(listing, view.slot);
  const said = view.profile === 'live' && result !== null ? result : status;
  return { ...metadataOf(listing, view, said), eventId: listing.event.plan.eventId };
}

function metadataOf(listing: Listing, { world: { timeline, venue }, slot }: PredictionView, status: string): object {
  return {
    marketId: listing.marketId,
    title: listing.plan.title,
    status,
    result: venue.state(listing, slot).result ?? '',
    closeTime: timeline.unixSeconds(listing.closeSlot),
    openTime: timeline.unixSeconds(listing.openSlot),
    isTeamMarket: listing.plan.isTeam ?? false,
    rulesPrimary: listing.plan.rules,
    rulesSecondary: RULES_SECONDARY,
  };
}
