import { formatDecimal, mulDiv } from '../../../core/amount.ts';
import { assert } from '../../../core/assert.ts';
import type { ListedEvent, Listing } from '../../prediction/catalogue.ts';
import type { LedgerFigures, LedgerRecord } from '../../prediction/ledger.ts';
import type { Position } from '../../prediction/positions.ts';
import { ONE, valuationOf } from '../../prediction/positions.ts';
import type { Profile } from '../context.ts';
import type { PredictionView } from './prediction-route.ts';

const RULES = 'https://rules.gannet.invalid';
const MICRO_USD = 1_000_000n;

/** The address of the images of events and markets. */
const IMAGES = 'https://images.gannet.invalid';
const RULES_SECONDARY = 'If the harbour office is closed, its next report counts.';

const DECIMALS = 6;

const MONEY = [
  'maxFillPriceUsd', 'avgFillPriceUsd', 'maxBuyPriceUsd', 'minSellPriceUsd', 'depositAmountUsd', 'totalCostUsd',
  'feeUsd', 'grossProceedsUsd', 'netProceedsUsd', 'transferAmountToken', 'realizedPnl', 'realizedPnlBeforeFees',
  'payoutAmountUsd',
] as const satisfies readonly (keyof LedgerFigures)[];

/** Returns whether any market of an event is traded. */
export function isActive(event: ListedEvent, { exchange: { venue }, slot }: PredictionView): boolean {
  return event.markets.some((market) => venue.state(market, slot).status === 'open');
}

/** Returns what was traded on an event so far, in whole US dollars. */
export function eventVolumeUsd(event: ListedEvent, { exchange: { venue }, slot }: PredictionView): number {
  return event.markets.reduce((sum, market) => sum + venue.volumeUsd(market, slot), 0);
}

/** Returns an event as the API lists it, with its markets unless `includeMarkets` is false. */
export function eventRecord(
  event: ListedEvent, view: PredictionView, { includeMarkets = true }: { includeMarkets?: boolean } = {},
): object {
  const { plan } = event;
  const { timeline } = view.exchange;
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
    metadata: { ...eventFields(event), closeTime: timeline.isoTime(event.closeSlot) },
    ...(includeMarkets ? { markets: event.markets.map((market) => marketRecord(market, view)) } : {}),
  };
}

/** Returns a market as the API lists it: with a `metadata` of its own by the description, flat in the live form. */
export function marketRecord(listing: Listing, view: PredictionView): object {
  const { exchange: { timeline, venue, identifiers }, profile, slot } = view;
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
    metadata: marketFields(listing, view, status), pricing,
  };
}

/** Returns an entry of the ledger as the API writes it; missing figures are "0" or empty. */
export function historyRecord(record: LedgerRecord, view: PredictionView): object {
  const { exchange, profile } = view;
  const { timeline, identifiers, keeper } = exchange;
  const listing = exchange.market(record.marketId);
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
    // The live service writes the profit after fees into this member too.
    ...(profile === 'live' ? { realizedPnlBeforeFees: (figures.realizedPnl ?? 0n).toString() } : {}),
    eventId: listing.event.plan.eventId,
    marketMetadata: marketMetadata(listing, view),
    eventMetadata: eventMetadata(listing.event, view),
  };
}

/** Returns a position as the API writes it: values, marks and unrealised profits are null once its market is closed. */
export function positionRecord(position: Position, view: PredictionView): object {
  const { exchange, profile, slot } = view;
  const { timeline, venue, identifiers } = exchange;
  const { marketId } = position;
  const listing = exchange.market(marketId);
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

/** Returns the purpose from which an order's identifiers are derived. */
export function orderPurpose(orderNumber: number): string {
  return `order:${orderNumber}`;
}

/** Returns the event's part of positions and history. The live service gives its close time in seconds there. */
function eventMetadata(event: ListedEvent, view: PredictionView): object {
  const { timeline } = view.exchange;
  const closeTime = view.profile === 'live' ? timeline.unixSeconds(event.closeSlot) : timeline.isoTime(event.closeSlot);
  return { ...eventFields(event), closeTime };
}

function eventFields({ plan }: ListedEvent): object {
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

/**
 * Returns the market's part of positions and history. In the live service the status of a resolved market is `yes` or
 * `no`.
 */
function marketMetadata(listing: Listing, view: PredictionView): object {
  const { status, result } = view.exchange.venue.state(listing, view.slot);
  const said = view.profile === 'live' && result !== null ? result : status;
  return { ...marketFields(listing, view, said), eventId: listing.event.plan.eventId };
}

function marketFields(listing: Listing, { exchange, slot }: PredictionView, status: string): object {
  const { timeline, venue } = exchange;
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

/**
 * Returns the members for a number of contracts: whole ones; in the live form also the exact number, in millionths and
 * as a decimal.
 */
function contractMembers(name: string, micro: bigint, profile: Profile): Readonly<Record<string, string>> {
  const whole = { [name]: (micro / ONE).toString() };
  return profile === 'live'
    ? { ...whole, [`${name}Micro`]: micro.toString(), [`${name}Decimal`]: formatDecimal(micro, DECIMALS) } : whole;
}

function text(value: bigint | undefined): string | null {
  return value === undefined ? null : value.toString();
}
