import type { ListedEvent } from '../../prediction/catalogue.ts';
import { IMAGES, marketRecord } from './market-record.ts';
import type { PredictionView } from './prediction-route.ts';

const RULES = 'https://rules.gannet.invalid';
const MICRO_USD = 1_000_000n;

/** Returns whether any market of an event is traded. */
export function isActive(event: ListedEvent, { world: { venue }, slot }: PredictionView): boolean {
  return event.markets.some((market) => venue.state(market, slot).status === 'open');
}

/** Returns what was traded on an event so far, in whole US dollars. */
export function eventVolumeUsd(event: ListedEvent, { world: { venue }, slot }: PredictionView): number {
  return event.markets.reduce((sum, market) => sum + venue.volumeUsd(market, slot), 0);
}

/** Returns an event as the API lists it, its markets with it unless they are not wanted. */
export function eventRecord(
  event: ListedEvent, view: PredictionView, { includeMarkets = true }: { includeMarkets?: boolean } = {},
): object {
  const { plan } = event;
  const { timeline } = view.world;
  return {
    eventId: plan.eventId,
    isActive: isActive(event, view),
    isLive: plan.isLive ?? false,
    category: plan.category,
    subcategory: plan.subcategory,
    volumeUsd: (BigInt(eventVolumeUsd(event, view)) * MICRO_USD).toString(),
    closeCondition: plan.closeCondition,
    beginAt: timeline.isoTime(event.openSlot),
    rulesPdf: `${RULES}/${plan.series.toLowerCase()}.pdf`,
    tags: plan.tags,
    metadata: { ...metadataOf(event), closeTime: timeline.isoTime(event.closeSlot) },
    ...(includeMarkets ? { markets: event.markets.map((market) => marketRecord(market, view)) } : {}),
  };
}

/** Returns what positions and history say of their event. The live service says there in seconds when it closes. */
export function eventMetadata(event: ListedEvent, view: PredictionView): object {
  const { timeline } = view.world;
  const closeTime = view.profile === 'live' ? timeline.unixSeconds(event.closeSlot) : timeline.isoTime(event.closeSlot);
  return { ...metadataOf(event), closeTime };
}

function metadataOf({ plan }: ListedEvent): object {
  return {
    eventId: plan.eventId,
    title: plan.title,
    subtitle: plan.subtitle,
    slug: plan.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, ''),
    series: plan.series,
    imageUrl: `${IMAGES}/events/${plan.eventId}.png`,
    isLive: plan.isLive ?? false,
  };
}
